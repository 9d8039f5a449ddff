import { type NewEvent, streamEvent } from "../events/index.ts";
import { issueEvents, NO_ISSUES } from "../issues/index.ts";
import { endTargets } from "../multistream/index.ts";
import { recordingEvent } from "../recordings/index.ts";
import type { Trx } from "../schema.ts";
import { endSession, markSessionLost } from "../sessions/index.ts";
import { type LiveStream, saveLiveStream } from "./live-stream.ts";
import { isActive, nextStreamStatus, type StreamInput } from "./stream-status.ts";

/** The inputs that remove a publisher. `publish-gate.ts` handles the inputs that bring one. */
export type LeavingInput = Exclude<StreamInput, "publish-accepted" | "second-publisher">;

/** A lost node keeps its epoch: nobody else has it, and if the node is alive after all, its facts count. */
const TAKES_LEASE: ReadonlySet<LeavingInput> = new Set(["terminated", "suspended", "deleted", "key-rotated"]);

export interface TransitionTime {
  /** When the change happened, for `status.since` and the event. */
  readonly at: number;
  /** Time of the source's last packet, if known more precisely than the row has it. */
  readonly lastPacketAt?: number;
  readonly reconnectWindowMs: number;
}

/**
 * Apply an input to a locked stream: change its row and its session's, and return the events to append at the end of the transaction. Publishers
 * that are told to leave lose the lease, and with them those that have not begun: the epoch rises above all grants.
 */
export async function applyToStream(
  trx: Trx,
  stream: LiveStream,
  input: LeavingInput,
  time: TransitionTime,
): Promise<NewEvent[]> {
  const before = stream.state;
  const next = nextStreamStatus(before, input);
  stream.state = next.state;
  if (before !== "idle" && time.lastPacketAt !== undefined)
    stream.lastSeen = Math.max(stream.lastSeen, time.lastPacketAt);
  if (TAKES_LEASE.has(input)) stream.epoch = Math.max(stream.epoch, stream.grantEpoch) + 1;
  if (input === "node-lost" && stream.sessionId) await markSessionLost(trx, stream.sessionId, time.at);
  // The window counts from the last packet, so that a restart never leaves a stream active for longer.
  const isLostAgain = input === "source-lost" && next.state === "reconnecting";
  if (next.session === "hold" || isLostAgain) stream.reconnectUntil = stream.lastSeen + time.reconnectWindowMs;
  else if (next.state !== "reconnecting") stream.reconnectUntil = null;
  const waiting: NewEvent[] = [];
  if (next.session === "end" && stream.sessionId) {
    const { id: streamId, owner, sessionId } = stream;
    const hasRecording = await endSession(trx, sessionId, stream.lastSeen, time.at);
    if (hasRecording) waiting.push(recordingEvent("recording.waiting", { streamId, owner, sessionId, at: time.at }));
    stream.sessionId = null;
    waiting.unshift(...endTargets(stream, stream.targets, time.at));
    stream.targets = [];
  }
  const { issues } = stream;
  if (next.state !== "live") stream.issues = NO_ISSUES;
  await saveLiveStream(trx, stream, before === next.state ? null : time.at);
  const closed = issueEvents(stream, issues, stream.issues, time.at);
  return isActive(before) === isActive(next.state) ? closed : [...closed, stateEvent(stream, time.at), ...waiting];
}

/** The `stream_state` event of the stream's current state. */
export function stateEvent(stream: LiveStream, at: number): NewEvent {
  return streamEvent(stream, at, "lifecycle", {
    type: "stream_state",
    nodeId: stream.nodeId ?? "",
    ...(stream.region ? { region: stream.region } : {}),
    userId: stream.owner.userId,
    state: { active: isActive(stream.state) },
  });
}
