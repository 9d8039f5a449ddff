import type { PlaybackDecision, PlaybackGate, PlaybackRequest, ViewerDetails, ViewerPass } from "../../ports/index.ts";
import {
  AccessCheck,
  type AccessCheckDeps,
  hasOriginList,
  SigningKeyUse,
  type Verdict,
} from "../access-control/index.ts";
import type { Deps } from "../deps.ts";
import { isPlaybackId } from "../ids.ts";
import { LastingAnswers } from "../lasting-answers.ts";
import { contentOf, guardedContentOf, isGone, whyNotPlayable } from "./playable.ts";
import type { PlayableFinder } from "./playable-finder.ts";
import type { PlayableRow } from "./playback-store.ts";

/** The longest time until a changed policy, key or suspension takes effect without a notification. */
const CONTENT_MS = 1_000;
const MAX_CONTENTS = 10_000;

export interface ContentGateDeps extends Deps, AccessCheckDeps {
  readonly limits: ViewerLimits;
  readonly playables: PlayableFinder;
  /** Has a stream pulled for its viewers. */
  readonly wantedPulls: { want(streamId: string): void };
}

/** Limits concurrent viewers. Counting them is not the gate's task. */
export interface ViewerLimits {
  /** Whether the project has reached its limit of viewers. */
  isFull(projectId: string): Promise<boolean>;
  /** Whether one more viewer may watch with this token or access key. */
  admits(credential: string, playbackId: string, viewer: ViewerDetails): boolean;
  /** An admitted viewer continues. */
  goesOn(playbackId: string, viewer: ViewerDetails): void;
}

/**
 * Decides who may watch, from the content behind the playback id and its policy. A cached decision needs no query. While the database is
 * unavailable, the last known state decides.
 */
export class ContentGate implements PlaybackGate {
  readonly access: AccessCheck;
  readonly #deps: ContentGateDeps;
  readonly #keyUse: SigningKeyUse;
  readonly #contents: LastingAnswers<PlayableRow>;

  constructor(deps: ContentGateDeps) {
    this.#deps = deps;
    this.access = new AccessCheck(deps);
    this.#keyUse = new SigningKeyUse(deps);
    this.#contents = new LastingAnswers(deps.clock, { freshMs: CONTENT_MS, capacity: MAX_CONTENTS });
  }

  async open({ playbackId, ...request }: PlaybackRequest): Promise<PlaybackDecision> {
    const { playables } = this.#deps;
    const row = await this.#find(playbackId, () => playables.find(playbackId));
    if (!row || (whyNotPlayable(row) !== null && !isGone(row))) return this.#denyLikeGated(playbackId, request);
    const verdict = await this.access.open(guardedContentOf(row), request);
    if (!verdict.ok) return DENIED;
    if (isGone(row)) return GONE;
    const { limits } = this.#deps;
    const { pass } = verdict;
    const credential = pass?.kind === "webhook" ? pass.accessKey : pass && request.tokens[0];
    // The same text in another project is another credential.
    if (credential && !limits.admits(`${row.project_id} ${credential}`, playbackId, request.viewer)) return DENIED;
    if (pass?.kind === "jwt") this.#keyUse.note(pass.signingKeyId);
    return decisionOf(row, verdict, await limits.isFull(row.project_id));
  }

  async recheck(playbackId: string, pass: ViewerPass, viewer: ViewerDetails): Promise<PlaybackDecision> {
    const { playables } = this.#deps;
    const row = await this.#find(playbackId, () => playables.findWatched(playbackId));
    if (!row || whyNotPlayable(row) !== null) return DENIED;
    const verdict = await this.access.recheck(guardedContentOf(row), pass, viewer);
    if (!verdict.ok) return { ok: false, reason: verdict.reason };
    this.#deps.limits.goesOn(playbackId, viewer);
    return decisionOf(row, verdict, false);
  }

  want(streamId: string): void {
    this.#deps.wantedPulls.want(streamId);
  }

  /** Rows changed that decide who may watch this content, or any content. */
  forget(playbackId: string | "all"): void {
    this.#deps.playables.forget(playbackId);
    // No other answer lasts either: the stream's recordings have ids of their own.
    this.#contents.forget(playbackId);
    this.access.webhooks.forget();
  }

  /** Takes as long as a wrong token, so that timing does not reveal that the content does not exist. */
  async #denyLikeGated(playbackId: string, request: Omit<PlaybackRequest, "playbackId">): Promise<PlaybackDecision> {
    await this.access.open({ playbackId, projectId: "", policy: { type: "jwt" }, signingKeys: [] }, request);
    return DENIED;
  }

  async #find(playbackId: string, look: () => Promise<PlayableRow | undefined>): Promise<PlayableRow | undefined> {
    if (!isPlaybackId(playbackId)) return undefined;
    return this.#contents.get(playbackId, look);
  }
}

const DENIED: PlaybackDecision = { ok: false, reason: "denied" };
const GONE: PlaybackDecision = { ok: false, reason: "gone" };

function decisionOf(
  row: PlayableRow,
  { pass, expiresInMs }: Extract<Verdict, { ok: true }>,
  isFull: boolean,
): PlaybackDecision {
  const perOrigin = hasOriginList(row.policy?.allowedOrigins);
  return { ok: true, content: contentOf(row, pass), pass, expiresInMs, perOrigin, isFull };
}
