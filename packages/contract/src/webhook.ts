import { type Static, Type } from "typebox";
import { exact, expects, Id, Milliseconds } from "./exact.ts";

/**
 * Every webhook event. `recording.deleted` is a Weir addition; `stream.detection` never occurs; `playback.accessControl` is a question, not a
 * notification.
 */
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
  url: Type.String({
    ...{ maxLength: 2048, pattern: "^https?://", description: "URL to call; http:// or https://" },
    ...expects("an address that begins with http:// or https://"),
  }),
  events: Type.Array(WebhookEventName, { maxItems: 100 }),
  sharedSecret: Type.String({ maxLength: 500, description: "Write-only; signs the calls" }),
  streamId: Type.String({ maxLength: 100, description: "Only events of this stream; defaults to all streams" }),
};

const newFields = {
  name: fields.name,
  url: fields.url,
  events: Type.Optional(fields.events),
  event: Type.Optional(Type.Enum([...WEBHOOK_EVENTS], { description: "A single event, if `events` is absent" })),
  sharedSecret: Type.Optional(fields.sharedSecret),
  streamId: Type.Optional(fields.streamId),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: "If given, the key's own project" })),
};
const oneOrSeveral = { additionalProperties: false, anyOf: [{ required: ["events"] }, { required: ["event"] }] };

/** Body of `POST /api/webhook`. */
export const NewWebhook = Type.Object(newFields, oneOrSeveral);
export type NewWebhook = Static<typeof NewWebhook>;

/** Body of `PUT /api/webhook/{id}`, which replaces the whole webhook. It can be the record from GET: fields that only the server sets are ignored. */
export const WebhookReplacement = Type.Object(
  {
    ...newFields,
    isSigned: Type.Optional(
      Type.Boolean({ description: "True without `sharedSecret` keeps the current secret, which no response shows" }),
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
  /** Weir addition. */
  paused: Type.Optional(
    Type.Boolean({
      description: "True: events are kept for 7 days and not delivered. False: deliver waiting events and continue",
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
      response: Type.Optional(Type.String({ description: "Base64 of the start of the response body" })),
    }),
  ),
  /** Weir additions. */
  waiting: Type.Integer({ description: "Events waiting for delivery; 1000 means 1000 or more" }),
  failuresInARow: Type.Integer({ description: "At 100 the webhook pauses" }),
  pausedAt: Type.Optional(Milliseconds),
  pauseReason: Type.Optional(Type.String({ description: "The reason for the pause, as a sentence" })),
});

/** A webhook as its owner sees it: everything except its shared secret. */
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
  isSigned: Type.Boolean({ description: "Whether it has a shared secret (Weir addition)" }),
  status: WebhookStatus,
});
export type Webhook = Static<typeof Webhook>;

/** One call of a webhook's URL and its result. */
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
    body: Type.String({ description: "JSON, exactly as sent and signed" }),
  }),
  response: Type.Optional(
    Type.Object({
      status: Type.Integer(),
      statusText: Type.String(),
      body: Type.String({ description: "Base64 of its first 1024 bytes" }),
    }),
  ),
  /** Weir additions. */
  error: Type.Optional(Type.String({ description: "The reason why there is no response" })),
  attempt: Type.Integer({ description: "1 for the first attempt at this event" }),
  retryAt: Type.Optional(Type.Integer({ description: "Time of the next retry, in milliseconds since the Unix epoch" })),
});
export type WebhookLog = Static<typeof WebhookLog>;

/** Body of `POST /api/webhook/{id}/replay`: both ends are inclusive. */
export const WebhookReplay = exact({
  from: Type.Integer({ minimum: 0, description: "Milliseconds since the Unix epoch" }),
  to: Type.Integer({ minimum: 0, description: "Milliseconds since the Unix epoch" }),
});
export type WebhookReplay = Static<typeof WebhookReplay>;

/** The number of events queued again. */
export const WebhookReplayed = Type.Object({ events: Type.Integer() });
export type WebhookReplayed = Static<typeof WebhookReplayed>;

/** A request that Weir would have sent to the URL of a webhook. */
export const WebhookRequest = Type.Object({
  event: WebhookEventName,
  headers: Type.Record(Type.String(), Type.String(), { description: "With the signature, if the webhook is signed" }),
  body: Type.String({ description: "JSON, exactly as signed" }),
});
export type WebhookRequest = Static<typeof WebhookRequest>;

/** The waiting requests of a paused webhook; empty if none wait. */
export const WebhookRequests = Type.Object({ requests: Type.Array(WebhookRequest) });
export type WebhookRequests = Static<typeof WebhookRequests>;

/** Body of `POST /api/webhook/{id}/test`. */
export const WebhookTest = exact({ event: Type.Optional(WebhookEventName) });
export type WebhookTest = Static<typeof WebhookTest>;

/**
 * The body that a webhook's URL receives. `id` is the event's id and the same in every attempt; a receiver that has already processed it should
 * answer 200 and do nothing.
 */
export const WebhookDelivery = Type.Object({
  id: Type.String(),
  webhookId: Id,
  createdAt: Type.Integer({ description: "Time of the event" }),
  timestamp: Type.Integer({ description: "Time of sending; also `t` of the signature" }),
  event: WebhookEventName,
  late: Type.Optional(
    Type.Literal(true, {
      description: "Retried for more than an hour: newer events of the stream were delivered before it",
    }),
  ),
  stream: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "The stream's state at the time of sending, without its key",
    }),
  ),
  payload: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;
