import type {
  MediaIndex,
  PlaybackDecision,
  PlaybackGate,
  PlaybackRequest,
  StoredContent,
  ViewerDetails,
  ViewerPass,
} from "../../ports/index.ts";
import {
  AccessCheck,
  type AccessCheckDeps,
  hasOriginList,
  SigningKeyUse,
  type Verdict,
} from "../access-control/index.ts";
import { readAssetMedia } from "../assets/index.ts";
import { DecisionCache } from "../decision-cache.ts";
import type { Deps } from "../deps.ts";
import { isPlaybackId } from "../ids.ts";
import { LastKnown } from "../last-known.ts";
import { readRecordingIndex, recordMp4Size } from "../recordings/index.ts";
import { contentOf, guardedContentOf, isGone, whyNotPlayable } from "./playable.ts";
import type { PlayableFinder } from "./playable-finder.ts";
import type { PlayableRow } from "./playback-store.ts";

/** How late a changed policy, key or suspension may be noticed where nobody tells of it. */
const CONTENT_MS = 1_000;
const MAX_CONTENTS = 10_000;
/** An index of a day is some 10 MB; it never changes once the recording is ready. */
const INDEX_MS = 30_000;
const MAX_INDEXES = 8;

export interface ContentGateDeps extends Deps, AccessCheckDeps {
  readonly limits: ViewerLimits;
  readonly playables: PlayableFinder;
}

/** How many may watch at a time; who counts them is no matter of the gate's. */
export interface ViewerLimits {
  /** Whether the project has as many viewers as it may have. */
  isFull(projectId: string): Promise<boolean>;
  /** Whether one more may watch with this token or access key. */
  admits(credential: string, playbackId: string, viewer: ViewerDetails): boolean;
  /** A viewer that was admitted goes on. */
  goesOn(playbackId: string, viewer: ViewerDetails): void;
}

/**
 * Decides who may watch, by what the playback id leads to and its policy. A decision about what is known already asks nobody; while the
 * database is away, what was known last decides.
 */
export class ContentGate implements PlaybackGate {
  readonly access: AccessCheck;
  readonly #deps: ContentGateDeps;
  readonly #keyUse: SigningKeyUse;
  readonly #contents: DecisionCache<PlayableRow | undefined>;
  readonly #lastContents: LastKnown<PlayableRow>;
  readonly #indexes: DecisionCache<MediaIndex | undefined>;
  readonly #lastIndexes: LastKnown<MediaIndex>;

  constructor(deps: ContentGateDeps) {
    this.#deps = deps;
    this.access = new AccessCheck(deps);
    this.#keyUse = new SigningKeyUse(deps);
    this.#contents = new DecisionCache(deps.clock, CONTENT_MS, MAX_CONTENTS);
    this.#lastContents = new LastKnown(deps.clock, MAX_CONTENTS);
    this.#indexes = new DecisionCache(deps.clock, INDEX_MS, MAX_INDEXES);
    this.#lastIndexes = new LastKnown(deps.clock, MAX_INDEXES);
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

  async recordingOf(sessionId: string): Promise<string | null> {
    return (await this.#deps.playables.findSession(sessionId))?.playback_id ?? null;
  }

  async mediaIndex({ kind, id }: StoredContent): Promise<MediaIndex | null> {
    const read = kind === "asset" ? readAssetMedia : readRecordingIndex;
    const look = async () => (await read(this.#deps.db, id)) ?? undefined;
    const index = await this.#indexes.get(id, () => this.#lastIndexes.get(id, look));
    // "Not yet" is no lasting answer, nor is a part of the renditions.
    return index && !index.isGrowing ? index : ((await look()) ?? null);
  }

  noteMp4Size({ kind, id }: StoredContent, bytes: number): void {
    if (kind !== "recording") return;
    const { db, log } = this.#deps;
    recordMp4Size(db, id, bytes).catch((error: unknown) =>
      log.warn({ err: error, sessionId: id }, "could not record the size of an MP4"),
    );
  }

  /** Rows have changed that say who may watch this, or anything. */
  forget(playbackId: string | "all"): void {
    if (playbackId === "all") this.#contents.clear();
    else this.#contents.forget(playbackId);
    // Its recordings have ids of their own.
    this.#lastContents.clear();
    this.access.webhooks.forget();
  }

  /** Takes the time of a wrong token, so that nobody learns by the clock that there is nothing. */
  async #denyLikeGated(playbackId: string, request: Omit<PlaybackRequest, "playbackId">): Promise<PlaybackDecision> {
    await this.access.open({ playbackId, projectId: "", policy: { type: "jwt" }, signingKeys: [] }, request);
    return DENIED;
  }

  async #find(playbackId: string, look: () => Promise<PlayableRow | undefined>): Promise<PlayableRow | undefined> {
    if (!isPlaybackId(playbackId)) return undefined;
    return this.#contents.get(playbackId, () => this.#lastContents.get(playbackId, look));
  }
}

const DENIED: PlaybackDecision = { ok: false, reason: "denied" };
const GONE: PlaybackDecision = { ok: false, reason: "gone" };

function decisionOf(
  row: PlayableRow,
  { pass, standsMs }: Extract<Verdict, { ok: true }>,
  isFull: boolean,
): PlaybackDecision {
  const perOrigin = hasOriginList(row.policy?.allowedOrigins);
  return { ok: true, content: contentOf(row), pass, standsMs, perOrigin, isFull };
}
