import type { PlaybackDecision, PlaybackGate, PlaybackRequest, RecordingIndex } from "../../ports.ts";
import type { Deps } from "../deps.ts";
import { readRecordingIndex } from "../sessions/index.ts";
import { DecisionCache } from "./decision-cache.ts";
import { findPlayable, type PlayableRow } from "./playback-store.ts";

/** How late a changed policy or a suspension may be noticed. */
const DECISION_MS = 1_000;
const DECISIONS = 10_000;
/** How long the media floor may keep an answer about public content. */
const STANDS_MS = 5_000;
/** An index of a day is some 10 MB; it never changes once the recording is ready. */
const INDEX_MS = 30_000;
const INDEXES = 8;
const LONGEST_PLAYBACK_ID = 64;

/** Decides who may watch, by the policy of what the playback id leads to. */
export class ContentGate implements PlaybackGate {
  readonly #deps: Deps;
  readonly #decisions: DecisionCache<PlaybackDecision>;
  readonly #indexes: DecisionCache<RecordingIndex | null>;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#decisions = new DecisionCache(deps.clock, DECISION_MS, DECISIONS);
    this.#indexes = new DecisionCache(deps.clock, INDEX_MS, INDEXES);
  }

  async open({ playbackId }: Pick<PlaybackRequest, "playbackId">): Promise<PlaybackDecision> {
    const key = playbackId.slice(0, LONGEST_PLAYBACK_ID);
    return this.#decisions.get(key, async () => decide(await findPlayable(this.#deps.db, key)));
  }

  async recheck(playbackId: string): Promise<PlaybackDecision> {
    return this.open({ playbackId });
  }

  async recording(sessionId: string): Promise<RecordingIndex | null> {
    const index = await this.#indexes.get(sessionId, () => readRecordingIndex(this.#deps.db, sessionId));
    // "Not yet" is no lasting answer.
    return index ?? readRecordingIndex(this.#deps.db, sessionId);
  }
}

function decide(row: PlayableRow | undefined): PlaybackDecision {
  // Tokens and webhooks are not checked yet, so what asks for them stays closed.
  const isPublic = row && (row.policy?.type ?? "public") === "public";
  if (!isPublic || (row.kind === "recording" && row.state !== "ready")) return { ok: false, reason: "denied" };
  const { id, project_id: projectId } = row;
  const content =
    row.kind === "live"
      ? ({ kind: "live", streamId: id, projectId } as const)
      : ({ kind: "recording", sessionId: id, projectId } as const);
  return { ok: true, content, pass: null, standsMs: STANDS_MS, perOrigin: false, isFull: false };
}
