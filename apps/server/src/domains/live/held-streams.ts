import type { EventSink, HeldSession, HeldSessions, LossReason } from "../../ports/index.ts";
import type { ChangedRow } from "../nodes/index.ts";

export interface HeldStreamsDeps {
  readonly eventSink: Pick<EventSink, "report">;
  readonly clock: { now(): number };
}

/**
 * Settle what a node holds with what the rows say. The epoch is the only right: who has a lower one has lost the stream, however late it learns so,
 * and who has the row's epoch still owns it, also if the node was declared gone meanwhile: then the stream is reconnecting, and goes on.
 */
export function settleHeld(holder: HeldSessions, changed: readonly ChangedRow[], deps: HeldStreamsDeps): void {
  if (changed.length === 0) return;
  // As it is now: while the rows were read, a publisher may have come or gone.
  const now = new Map(holder.held().map((session) => [session.streamId, session]));
  for (const row of changed) {
    const session = now.get(row.streamId);
    if (!session || session.epoch !== row.heldEpoch || session.sessionId !== row.heldSessionId) continue;
    const why = lossOf(session, row);
    if (why !== null) holder.lost(session, why);
    else if (row.state === "reconnecting" && session.isLive)
      deps.eventSink.report({
        type: "source-back",
        streamId: row.streamId,
        epoch: session.epoch,
        at: deps.clock.now(),
      });
  }
}

/** Why the session is not this node's any more; null if it is. */
function lossOf(session: HeldSession, row: ChangedRow): LossReason | null {
  const { epoch, sessionId, isSuspended, isDeleted, isHere, state } = row;
  if (epoch === session.epoch && sessionId === session.sessionId) return null;
  if (isDeleted) return "deleted";
  if (isSuspended) return "suspended";
  if (epoch === session.epoch) return "window-over";
  if (!isHere) return sessionId === null ? "window-over" : "moved";
  if (state === "idle") return "terminated";
  // Live here: a later publisher of this node begins, and the hub is about to hear of it.
  const isKeyNew = state === "reconnecting" && sessionId === session.sessionId;
  // Without a publisher it waits for one with the new key.
  return isKeyNew && session.isLive ? "key-rotated" : null;
}
