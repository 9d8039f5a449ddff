import {
  type NewWebhook,
  WEBHOOK_EVENTS,
  type Webhook,
  type WebhookEventName,
  type WebhookPatch,
} from "@weir/contract";

/** A webhook as it is typed. */
export interface WebhookDraft {
  readonly name: string;
  readonly url: string;
  readonly events: readonly WebhookEventName[];
  /** Empty for none, or for the one that it has. */
  readonly sharedSecret: string;
  /** Empty for all streams. */
  readonly streamId: string;
}

export const EMPTY_DRAFT: WebhookDraft = { name: "", url: "", events: [], sharedSecret: "", streamId: "" };

export function draftOf({ name, url, events, streamId = "" }: Webhook): WebhookDraft {
  return { name, url, events, sharedSecret: "", streamId };
}

export function isAddress(url: string): boolean {
  return /^https?:\/\/./.test(url.trim()) && URL.canParse(url.trim());
}

export function isComplete({ name, url, events }: WebhookDraft): boolean {
  return name.trim() !== "" && isAddress(url) && events.length > 0;
}

export function newWebhookOf({ name, url, events, sharedSecret, streamId }: WebhookDraft): NewWebhook {
  return {
    name: name.trim(),
    url: url.trim(),
    events: [...events],
    ...(sharedSecret !== "" && { sharedSecret }),
    ...(streamId.trim() !== "" && { streamId: streamId.trim() }),
  };
}

/** Only the changed fields, so that another user's change to the others survives. */
export function patchOf(webhook: Webhook, draft: WebhookDraft): WebhookPatch {
  const { name, url, sharedSecret } = newWebhookOf(draft);
  const events = [...draft.events];
  const streamId = draft.streamId.trim();
  const areSame = events.length === webhook.events.length && events.every((event) => webhook.events.includes(event));
  return {
    ...(name !== webhook.name && { name }),
    ...(url !== webhook.url && { url }),
    ...(!areSame && { events }),
    ...(sharedSecret !== undefined && { sharedSecret }),
    ...(streamId !== (webhook.streamId ?? "") && { streamId }),
  };
}

/** This server detects no content. */
export function isSent(event: WebhookEventName): boolean {
  return event !== "stream.detection";
}

export const SENT_EVENTS = WEBHOOK_EVENTS.filter(isSent);

/** What most receivers act on: something begins, is ready, or has gone wrong. */
export const RECOMMENDED_EVENTS: readonly WebhookEventName[] = [
  "stream.started",
  "stream.idle",
  "recording.ready",
  "multistream.error",
  "asset.ready",
  "asset.failed",
];

/** The events to choose from, grouped by what comes before their first dot, in the order of the API. */
export const EVENT_GROUPS = Object.entries(Object.groupBy(SENT_EVENTS, groupOf)) as [
  EventGroup,
  readonly WebhookEventName[],
][];

export type EventGroup = WebhookEventName extends `${infer Group}.${string}` ? Group : never;

function groupOf(event: WebhookEventName): EventGroup {
  return event.slice(0, event.indexOf(".")) as EventGroup;
}

/** The choice with or without these events, in the order of the API. */
export function withEvents(
  chosen: readonly WebhookEventName[],
  events: readonly WebhookEventName[],
  isWanted: boolean,
): WebhookEventName[] {
  return WEBHOOK_EVENTS.filter((event) => (events.includes(event) ? isWanted : chosen.includes(event)));
}

/** A secret that nobody guesses: 32 random bytes. */
export function inventSecret(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
