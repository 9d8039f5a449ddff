import type { Asset, Session, Stream, Task, WebhookDelivery, WebhookEventName } from "@weir/contract";

/** The subject of an event, in a body. */
export interface SubjectSnapshot {
  readonly stream?: Stream | null;
  readonly asset?: Asset | null;
  readonly task?: Task | null;
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

/** The body of a call: the stream without the secrets for publishing or pulling. */
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

/** The same body with another time, for a repeated call. */
export function withTimestamp(body: string, timestamp: number): string {
  return JSON.stringify({ ...(JSON.parse(body) as object), timestamp });
}

function payloadOf({ event, session, payload, snapshot }: BodyParts): Record<string, unknown> {
  const { recordingUrl, mp4Url } = session ?? {};
  return {
    ...(event === "recording.ready" && recordingUrl ? { recordingUrl, mp4Url } : {}),
    ...aboutAsset(snapshot),
    ...aboutTask(snapshot, event),
    ...(session ? { session: event === "recording.ready" ? { ...session, assetId: session.id } : session } : {}),
    ...payload,
  };
}

const aboutAsset = ({ asset }: SubjectSnapshot) => (asset ? { asset: { id: asset.id, snapshot: asset } } : {});

function aboutTask({ task }: SubjectSnapshot, event: WebhookEventName): Record<string, unknown> {
  if (!task) return {};
  const success = event === "task.completed" || event === "task.failed" ? { success: event === "task.completed" } : {};
  return { task: { id: task.id, type: task.type, snapshot: task }, ...success };
}

function withoutSecrets({ streamKey: _, pull: __, ...stream }: Stream): Record<string, unknown> {
  return stream;
}
