import type { Webhook, WebhookEventName } from "@weir/contract";
import type { Generated, GeneratedAlways, JSONColumnType } from "kysely";
import type { AboutSubject, Int8, Int8Default, Int8OrNull, JsonOrNull, Owned, TextOrNull } from "./columns.ts";

export interface WebhookTable extends Owned {
  id: string;
  name: string;
  url: string;
  events: WebhookEventName[];
  stream_id: TextOrNull;
  shared_secret: TextOrNull;
  created_at: Int8;
  paused_at: Int8OrNull;
  pause_reason: TextOrNull;
  failures: Generated<number>;
  last_triggered_at: Int8OrNull;
  last_failure: JsonOrNull<NonNullable<Webhook["status"]["lastFailure"]>>;
}

export interface WebhookDeliveryTable extends AboutSubject {
  id: GeneratedAlways<string>;
  webhook_id: string;
  lane: Int8Default;
  seq: Int8;
  event_at: Int8;
  event: WebhookEventName;
  created_at: Int8;
  attempts: Generated<number>;
  first_tried_at: Int8OrNull;
}

export interface WebhookQueueTable extends AboutSubject {
  webhook_id: string;
  lane: Int8Default;
  due_at: Int8;
  claimed_by: TextOrNull;
  claimed_until: Int8Default;
}

export interface WebhookLogTable {
  id: string;
  webhook_id: string;
  project_id: string;
  event: WebhookEventName;
  created_at: Int8;
  duration_ms: number;
  attempt: number;
  success: boolean;
  url: string;
  headers: JSONColumnType<Record<string, string>>;
  body: string;
  status: number | null;
  status_text: TextOrNull;
  response: Buffer | null;
  error: TextOrNull;
  retry_at: Int8OrNull;
}
