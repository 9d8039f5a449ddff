import type { Session } from "@weir/contract";
import { eventId } from "../events/index.ts";
import type { Owner } from "../schema.ts";
import type { SubjectKind } from "../subject.ts";
import type { QueueHead, QueueKey } from "./delivery-store.ts";
import { type SubjectSnapshot, webhookBody } from "./webhook-body.ts";

/** Subjects and sessions as their owner sees them, even if deleted; empty or null if there is none. */
export interface Snapshots {
  readonly subject: Readonly<Record<SubjectKind, (id: string) => Promise<SubjectSnapshot>>>;
  session(owner: Owner, id: string): Promise<Session | null>;
}

/** A delivery of a queue, and what its subject is now. */
export interface DueDelivery {
  readonly key: QueueKey;
  readonly head: QueueHead;
  readonly webhook: NonNullable<QueueHead["webhook"]>;
  readonly snapshot: SubjectSnapshot;
  readonly sentAt: number;
}

/** The body that a delivery sends. Null where the log has dropped the event. */
export async function bodyOfDelivery(snapshots: Snapshots, due: DueDelivery): Promise<string | null> {
  const { key, head, webhook, snapshot, sentAt } = due;
  if (!head.data) return null;
  const { sessionId, payload = null } = head.data as { sessionId?: string; payload?: Record<string, unknown> };
  const isOfRecording = sessionId !== undefined && head.event.startsWith("recording.");
  return webhookBody({
    id: eventId(key.subject, { at: head.eventAt, seq: head.seq }),
    webhookId: webhook.id,
    createdAt: head.eventAt,
    timestamp: sentAt,
    event: head.event,
    isLate: head.isLate,
    snapshot,
    session: isOfRecording ? await snapshots.session(webhook, sessionId) : null,
    payload,
  });
}
