import type { WebhookEventName } from "@weir/contract";
import type { Clock } from "../../platform/clock.ts";
import { signBody } from "../../platform/outbound/body-signature.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { newId } from "../ids.ts";
import type { NewWebhookLogRow } from "../schema.ts";
import { type CallOutcome, outcomeOf } from "./delivery-status.ts";

const MAX_RESPONSE_BYTES = 1024;

export interface WebhookCallDeps {
  readonly clock: Clock;
  readonly outbound: Pick<Outbound, "post">;
}

export interface WebhookCall {
  readonly webhook: {
    readonly id: string;
    readonly projectId: string;
    readonly url: string;
    readonly sharedSecret: string | null;
  };
  readonly event: WebhookEventName;
  /** The body as sent; its `timestamp` is `sentAt`. */
  readonly body: string;
  readonly sentAt: number;
  readonly attempt: number;
  readonly timeoutMs: number;
}

/** The outcome of a call, and the row that stores it. */
export interface WebhookCalled {
  readonly outcome: CallOutcome;
  readonly log: NewWebhookLogRow;
  /** Null for a delivered call. */
  readonly failure: { timestamp: number; statusCode?: number; error: string; response?: string } | null;
}

/** The headers of a call, with its signature if the webhook has a secret. */
export function headersOf(
  { sharedSecret }: WebhookCall["webhook"],
  body: string,
  sentAt: number,
): Record<string, string> {
  return {
    "content-type": "application/json",
    "user-agent": "weir",
    ...(sharedSecret === null ? {} : signBody(sharedSecret, body, sentAt)),
  };
}

/** Call a webhook's URL once. Never rejects. */
export async function callWebhook(deps: WebhookCallDeps, call: WebhookCall): Promise<WebhookCalled> {
  const { webhook, body, sentAt, timeoutMs } = call;
  const headers = headersOf(webhook, body, sentAt);
  const answer = await deps.outbound.post({
    url: webhook.url,
    body,
    headers,
    timeoutMs,
    maxResponseBytes: MAX_RESPONSE_BYTES,
  });
  const outcome = answer.ok ? outcomeOf(answer.status) : answer.reason === "refused" ? "hopeless" : "failed";
  const log: NewWebhookLogRow = {
    id: newId(),
    webhook_id: webhook.id,
    project_id: webhook.projectId,
    event: call.event,
    created_at: sentAt,
    duration_ms: answer.durationMs,
    attempt: call.attempt,
    success: outcome === "delivered",
    url: webhook.url,
    headers: JSON.stringify(headers),
    body,
    ...(answer.ok
      ? { status: answer.status, status_text: answer.statusText, response: answer.body }
      : { error: answer.message }),
  };
  if (outcome === "delivered") return { outcome, log, failure: null };
  const failure = answer.ok
    ? {
        timestamp: sentAt,
        statusCode: answer.status,
        error: `answered ${answer.status} ${answer.statusText}`.trim(),
        response: answer.body.toString("base64"),
      }
    : { timestamp: sentAt, error: answer.message };
  return { outcome, log, failure };
}
