import { type Static, Type } from "typebox";
import { exact, Id, Milliseconds } from "./exact.ts";

/** Everything that a webhook can be about. `recording.deleted` is an addition of ours; `stream.detection` never happens here; `playback.accessControl` is asked, not told. */
export const WEBHOOK_EVENTS = [
  "stream.started",
  "stream.detection",
  "stream.idle",
  "recording.ready",
  "recording.started",
  "recording.waiting",
  "recording.deleted",
  "multistream.connected",
  "multistream.error",
  "multistream.disconnected",
  "playback.user.new",
  "playback.accessControl",
  "asset.created",
  "asset.updated",
  "asset.failed",
  "asset.ready",
  "asset.deleted",
  "task.spawned",
  "task.updated",
  "task.completed",
  "task.failed",
] as const;

export const WebhookEventName = Type.Enum([...WEBHOOK_EVENTS]);
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

const fields = {
  name: Type.String({ minLength: 1, maxLength: 500 }),
  url: Type.String({ maxLength: 2048, pattern: "^https?://", description: "Where calls go; http:// or https://" }),
  events: Type.Array(WebhookEventName, { maxItems: 100 }),
  sharedSecret: Type.String({ maxLength: 500, description: "Write-only: calls are signed with it" }),
  streamId: Type.String({ maxLength: 100, description: "Only events of this stream; of all where unset" }),
};

const newFields = {
  name: fields.name,
  url: fields.url,
  events: Type.Optional(fields.events),
  event: Type.Optional(Type.Enum([...WEBHOOK_EVENTS], { description: "A single event, where `events` is absent" })),
  sharedSecret: Type.Optional(fields.sharedSecret),
  streamId: Type.Optional(fields.streamId),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: "The key's own project, if given" })),
};
const oneOrSeveral = { additionalProperties: false, anyOf: [{ required: ["events"] }, { required: ["event"] }] };

/** Body of `POST /api/webhook`. */
export const NewWebhook = Type.Object(newFields, oneOrSeveral);
export type NewWebhook = Static<typeof NewWebhook>;

/** Body of `PUT /api/webhook/{id}`, which replaces all of it. The record that GET gave is one: what only the server sets is not looked at. */
export const WebhookReplacement = Type.Object(
  {
    ...newFields,
    isSigned: Type.Optional(
      Type.Boolean({ description: "True without a sharedSecret keeps the one that is set, which no answer shows" }),
    ),
    id: Type.Optional(Type.Unknown()),
    kind: Type.Optional(Type.Unknown()),
    userId: Type.Optional(Type.Unknown()),
    createdAt: Type.Optional(Type.Unknown()),
    status: Type.Optional(Type.Unknown()),
  },
  oneOrSeveral,
);
export type WebhookReplacement = Static<typeof WebhookReplacement>;

/** Body of `PATCH /api/webhook/{id}`: any subset. */
export const WebhookPatch = exact({
  name: Type.Optional(fields.name),
  url: Type.Optional(fields.url),
  events: Type.Optional(fields.events),
  sharedSecret: Type.Optional(fields.sharedSecret),
  streamId: Type.Optional(fields.streamId),
  /** Ours. */
  paused: Type.Optional(
    Type.Boolean({
      description: "True: events are kept for 7 days and not delivered. False: deliver what waits, and go on",
    }),
  ),
});
export type WebhookPatch = Static<typeof WebhookPatch>;

/** Body of `DELETE /api/webhook`. */
export const WebhookIds = exact({ ids: Type.Optional(Type.Array(Id, { maxItems: 1000 })) });
export type WebhookIds = Static<typeof WebhookIds>;

export const WebhookStatus = Type.Object({
  lastTriggeredAt: Type.Optional(Milliseconds),
  lastFailure: Type.Optional(
    Type.Object({
      timestamp: Milliseconds,
      statusCode: Type.Optional(Type.Integer()),
      error: Type.String(),
      response: Type.Optional(Type.String({ description: "Base64 of the beginning of the answer's body" })),
    }),
  ),
  /** Additions of ours. */
  waiting: Type.Integer({ description: "Events that wait for delivery; 1000 stands for that many or more" }),
  failuresInARow: Type.Integer({ description: "At 100 the webhook pauses" }),
  pausedAt: Type.Optional(Milliseconds),
  pauseReason: Type.Optional(Type.String({ description: "Why it is paused, as a sentence" })),
});

/** A webhook as its owner sees it: everything but its shared secret. */
export const Webhook = Type.Object({
  id: Id,
  kind: Type.Literal("webhook"),
  name: Type.String(),
  userId: Id,
  projectId: Id,
  createdAt: Milliseconds,
  events: Type.Array(WebhookEventName),
  url: Type.String(),
  streamId: Type.Optional(Type.String()),
  isSigned: Type.Boolean({ description: "It has a shared secret (ours)" }),
  status: WebhookStatus,
});
export type Webhook = Static<typeof Webhook>;

/** One call of a webhook's URL and what came of it. */
export const WebhookLog = Type.Object({
  id: Id,
  webhookId: Id,
  event: WebhookEventName,
  createdAt: Milliseconds,
  duration: Type.Number({ description: "Seconds" }),
  success: Type.Boolean(),
  request: Type.Object({
    url: Type.String(),
    method: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
    body: Type.String({ description: "JSON, exactly as it was sent and signed" }),
  }),
  response: Type.Optional(
    Type.Object({
      status: Type.Integer(),
      statusText: Type.String(),
      body: Type.String({ description: "Base64 of its first 1024 bytes" }),
    }),
  ),
  /** Additions of ours. */
  error: Type.Optional(Type.String({ description: "Why there is no response" })),
  attempt: Type.Integer({ description: "1 for the first try of this event" }),
  retryAt: Type.Optional(
    Type.Integer({ description: "When this failed request is repeated, in milliseconds since the Unix epoch" }),
  ),
});
export type WebhookLog = Static<typeof WebhookLog>;

/** Body of `POST /api/webhook/{id}/replay`: both ends are part of the range. */
export const WebhookReplay = exact({
  from: Type.Integer({ minimum: 0, description: "Milliseconds since the Unix epoch" }),
  to: Type.Integer({ minimum: 0, description: "Milliseconds since the Unix epoch" }),
});
export type WebhookReplay = Static<typeof WebhookReplay>;

/** How many events of the range are queued again. */
export const WebhookReplayed = Type.Object({ events: Type.Integer() });
export type WebhookReplayed = Static<typeof WebhookReplayed>;

/** Body of `POST /api/webhook/{id}/test`. */
export const WebhookTest = exact({ event: Type.Optional(WebhookEventName) });
export type WebhookTest = Static<typeof WebhookTest>;

/** The body that a webhook's URL receives. `id` is the event's and the same in every try; a receiver that has seen it answers 200 and does no more. */
export const WebhookDelivery = Type.Object({
  id: Type.String(),
  webhookId: Id,
  createdAt: Type.Integer({ description: "When it happened" }),
  timestamp: Type.Integer({ description: "When it was sent; also `t` of the signature" }),
  event: WebhookEventName,
  late: Type.Optional(
    Type.Literal(true, { description: "Was tried for over an hour: newer events of the stream came before it" }),
  ),
  stream: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: "The stream as it is when sent, without its key" }),
  ),
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;
