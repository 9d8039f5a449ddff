import type { Session, Stream, WebhookDelivery, WebhookEventName } from "@weir/contract";

/** The subject of an event in a body. */
export interface SubjectSnapshot {
  readonly stream?: Stream | null;
}

/** The rows for the rest of a body, as they are when the call is sent. */
export interface BodyParts {
  readonly id: string;
  readonly webhookId: string;
  readonly createdAt: number;
  readonly timestamp: number;
  readonly event: WebhookEventName;
  readonly isLate: boolean;
  readonly snapshot: SubjectSnapshot;
  readonly session: Session | null;
  /** The content of the event itself. */
  readonly payload: Readonly<Record<string, unknown>> | null;
}

/** The body of a call: the stream without what would let somebody publish or pull. */
export function webhookBody(parts: BodyParts): string {
  const { id, webhookId, createdAt, timestamp, event, isLate, snapshot } = parts;
  const payload = payloadOf(parts);
  const body: WebhookDelivery = {
    id,
    webhookId,
    createdAt,
    timestamp,
    event,
    ...(isLate ? { late: true } : {}),
    ...(snapshot.stream ? { stream: withoutSecrets(snapshot.stream) } : {}),
    ...(Object.keys(payload).length > 0 ? { payload } : {}),
  };
  return JSON.stringify(body);
}

/** The same body at another time, for a call that is made once more. */
export function withTimestamp(body: string, timestamp: number): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), timestamp });
}

function payloadOf({ event, session, payload }: BodyParts): Record<string, unknown> {
  const { recordingUrl, mp4Url } = session ?? {};
  return {
    ...(event === "recording.ready" && recordingUrl ? { recordingUrl, mp4Url } : {}),
    ...(session ? { session: event === "recording.ready" ? { ...session, assetId: session.id } : session } : {}),
    ...payload,
  };
}

function withoutSecrets({ streamKey: _, pull: __, ...stream }: Stream): Record<string, unknown> {
  return stream;
}
