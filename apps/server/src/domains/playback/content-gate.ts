import type { PlaybackDecision, PlaybackGate, PlaybackRequest, RecordingIndex } from "../../ports.ts";
import type { Deps } from "../deps.ts";
import { readRecordingIndex } from "../sessions/index.ts";
import { DecisionCache } from "./decision-cache.ts";
import { findPlayable, type PlayableRow } from "./playback-store.ts";

/** How late a changed policy or a suspension may be noticed. */
const DECISION_MS = 1_000;
const DECISIONS = 10_000;
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

  async open({ playbackId }: PlaybackRequest): Promise<PlaybackDecision> {
    const key = playbackId.slice(0, LONGEST_PLAYBACK_ID);
    return this.#decisions.get(key, async () => decide(await findPlayable(this.#deps.db, key)));
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
  return row.kind === "live"
    ? { ok: true, content: { kind: "live", streamId: id, projectId } }
    : { ok: true, content: { kind: "recording", sessionId: id, projectId } };
}
