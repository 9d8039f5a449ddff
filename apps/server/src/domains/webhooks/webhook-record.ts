import type { Webhook, WebhookLog } from "@weir/contract";
import type { WebhookLogRow } from "../schema.ts";
import type { WebhookWithQueue } from "./webhook-store.ts";

/** A webhook's row as its owner sees it: unset fields are absent, and the shared secret is never shown. */
export function webhookRecord(row: WebhookWithQueue): Webhook {
  return {
    id: row.id,
    kind: "webhook",
    name: row.name,
    userId: row.user_id,
    projectId: row.project_id,
    createdAt: Number(row.created_at),
    events: row.events,
    url: row.url,
    ...(row.stream_id === null ? {} : { streamId: row.stream_id }),
    isSigned: row.shared_secret !== null,
    status: {
      ...(row.last_triggered_at === null ? {} : { lastTriggeredAt: Number(row.last_triggered_at) }),
      ...(row.last_failure === null ? {} : { lastFailure: row.last_failure }),
      waiting: Number(row.waiting),
      failuresInARow: row.failures,
      ...(row.paused_at === null ? {} : { pausedAt: Number(row.paused_at) }),
      ...(row.pause_reason === null ? {} : { pauseReason: row.pause_reason }),
    },
  };
}

/** The path and query of such an address are often its only secret. */
const maskedUrl = (url: string): string => `${URL.parse(url)?.origin ?? ""}/***`;

/** The webhook for a reader who may not change it. */
export const withoutAddress = (webhook: Webhook): Webhook => ({ ...webhook, url: maskedUrl(webhook.url) });

/** The same for a call of it. */
export const withoutLogAddress = (log: WebhookLog): WebhookLog => ({
  ...log,
  request: { ...log.request, url: maskedUrl(log.request.url) },
});

export function webhookLogRecord(row: WebhookLogRow): WebhookLog {
  const { status, status_text: statusText, response } = row;
  return {
    id: row.id,
    webhookId: row.webhook_id,
    event: row.event,
    createdAt: Number(row.created_at),
    duration: row.duration_ms / 1000,
    success: row.success,
    request: { url: row.url, method: "POST", headers: row.headers, body: row.body },
    ...(status === null
      ? {}
      : { response: { status, statusText: statusText ?? "", body: response?.toString("base64") ?? "" } }),
    ...(row.error === null ? {} : { error: row.error }),
    attempt: row.attempt,
    ...(row.retry_at === null ? {} : { retryAt: Number(row.retry_at) }),
  };
}
