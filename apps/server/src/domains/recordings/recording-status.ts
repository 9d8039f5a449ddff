import { IllegalTransition } from "../illegal-transition.ts";

/**
 * The recording of a session. `none`: not requested. `waiting`: in progress, or not yet durable. `ready`: its last byte is durable and it plays.
 * `failed`: nothing could be kept. `deleted`: by its owner.
 */
export type RecordingState = "none" | "waiting" | "ready" | "failed" | "deleted";
export type RecordingInput = "complete" | "lost" | "delete";

const table: Record<RecordingState, Partial<Record<RecordingInput, RecordingState>>> = {
  none: {},
  waiting: { complete: "ready", lost: "failed", delete: "deleted" },
  ready: { delete: "deleted" },
  failed: { delete: "deleted" },
  deleted: {},
};

/** The transition table of a recording's lifecycle. Throws `IllegalTransition` for a pair that is not in it. */
export function nextRecordingStatus(state: RecordingState, input: RecordingInput): RecordingState {
  const next = table[state][input];
  if (!next) throw new IllegalTransition("recording", state, input);
  return next;
}

/** The facts about the recording of an ended session. */
export interface RecordingEvidence {
  readonly sealedSegments: number;
  /** In the spools of nodes that are not gone. */
  readonly unsealedSegments: number;
  /** In the spools of nodes that are gone. */
  readonly lostSegments: number;
  /** The media floor could not record part of it. The rest is still on its way to the object store. */
  readonly hasFailed: boolean;
  /** A node that owned the session is gone, and has segments or may have some that nobody knows of; its disk may still come back. */
  readonly isSpoolAwaited: boolean;
  /** Milliseconds since the session ended, or since a node last reported parts of the recording in its spool. */
  readonly waitedMs: number;
}

/** No media is known yet; after a crash it may still be found in the node's spool. */
export const EMPTY_RECORDING_MS = 60_000;
/** Longest wait for spans that no node reports any more. */
export const RECORDING_WATCHDOG_MS = 3_600_000;

/** Whether a waiting recording is complete, lost, or must wait longer (null). Sealed spans are kept even if the rest is lost. */
export function judgeRecording(evidence: RecordingEvidence): "complete" | "lost" | null {
  const { sealedSegments, unsealedSegments, lostSegments, hasFailed, isSpoolAwaited, waitedMs } = evidence;
  if (isSpoolAwaited) return null;
  if (unsealedSegments > 0 && waitedMs < RECORDING_WATCHDOG_MS) return null;
  if (sealedSegments > 0) return "complete";
  return hasFailed || unsealedSegments + lostSegments > 0 || waitedMs >= EMPTY_RECORDING_MS ? "lost" : null;
}
