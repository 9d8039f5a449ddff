import type {
  NewWebhook,
  Webhook,
  WebhookEventName,
  WebhookLog,
  WebhookPatch,
  WebhookReplacement,
  WebhookReplay,
  WebhookReplayed,
  WebhookRequest,
} from "@weir/contract";
import { fetchPage } from "./list-operation.ts";
import { call } from "./operation.ts";
import { eachOf, type ListOptions, type Page } from "./page.ts";
import { type CallOptions, callOptionsIn, type Transport } from "./transport.ts";

/** Filters for listing a webhook's calls. */
export interface WebhookLogOptions extends ListOptions {
  readonly event?: WebhookEventName | undefined;
  /** Only calls that succeeded; with false, only those that did not. */
  readonly success?: boolean | undefined;
}

/** Webhooks of the key's project: `/api/webhook`. */
export class Webhooks {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Register a webhook. Throws WeirError 422 for a URL that Weir must not call. */
  create(webhook: NewWebhook, options: CallOptions = {}): Promise<Webhook> {
    return call(this.#transport, "POST /api/webhook", { ...options, body: webhook });
  }

  /** Get a webhook. Throws WeirError 404 for an unknown one. */
  get(id: string, options: CallOptions = {}): Promise<Webhook> {
    return call(this.#transport, "GET /api/webhook/:id", { ...options, params: { id } });
  }

  /** One page, newest first. */
  list(options: ListOptions = {}): Promise<Page<Webhook>> {
    const [given, query] = callOptionsIn(options);
    return fetchPage(this.#transport, "GET /api/webhook", { ...given, query });
  }

  /** Every webhook, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<Webhook, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Replace the webhook: name, events, URL, secret and stream. Absent fields are removed, including the secret. */
  replace(id: string, webhook: WebhookReplacement, options: CallOptions = {}): Promise<Webhook> {
    return call(this.#transport, "PUT /api/webhook/:id", { ...options, params: { id }, body: webhook });
  }

  /** Change the given fields; the rest stays. */
  patch(id: string, changes: WebhookPatch, options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "PATCH /api/webhook/:id", { ...options, params: { id }, body: changes });
  }

  /** Hold back deliveries: events are kept for 7 days. False delivers the waiting ones and resumes. */
  pause(id: string, paused = true, options: CallOptions = {}): Promise<void> {
    return this.patch(id, { paused }, options);
  }

  /** Delete a webhook; waiting deliveries are dropped. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await call(this.#transport, "DELETE /api/webhook/:id", { ...options, params: { id } });
  }

  /** Delete all of these webhooks. If one of them is unknown, throws WeirError 404 and deletes none. */
  deleteMany(ids: readonly string[], options: CallOptions = {}): Promise<void> {
    return call(this.#transport, "DELETE /api/webhook", { ...options, body: { ids: [...ids] } });
  }

  /** One page of calls, newest first. */
  logs(id: string, { limit, cursor, event, success, ...options }: WebhookLogOptions = {}): Promise<Page<WebhookLog>> {
    const filters = [
      { id: "event", value: event },
      { id: "success", value: success },
    ].filter(({ value }) => value !== undefined);
    const query = { limit, cursor, filters: filters.length > 0 ? JSON.stringify(filters) : undefined };
    return fetchPage(this.#transport, "GET /api/webhook/:id/log", { ...options, params: { id }, query });
  }

  /** Get one call: request and response. */
  log(id: string, logId: string, options: CallOptions = {}): Promise<WebhookLog> {
    return call(this.#transport, "GET /api/webhook/:id/log/:logId", { ...options, params: { id, logId } });
  }

  /** Repeat a call now. Resolves with its result, even if it failed, within 10 s. */
  resend(id: string, logId: string, options: CallOptions = {}): Promise<WebhookLog> {
    return call(this.#transport, "POST /api/webhook/:id/log/:logId/resend", { ...options, params: { id, logId } });
  }

  /** Queue the events of a time range again, in order and with their original ids. */
  replay(id: string, range: WebhookReplay, options: CallOptions = {}): Promise<WebhookReplayed> {
    return call(this.#transport, "POST /api/webhook/:id/replay", { ...options, params: { id }, body: range });
  }

  /** Take the waiting requests of a paused webhook; they no longer wait then. Throws WeirError 400 if it is not paused. */
  async take(id: string, options: CallOptions = {}): Promise<WebhookRequest[]> {
    return (await call(this.#transport, "POST /api/webhook/:id/take", { ...options, params: { id } })).requests;
  }

  /** Send a sample event now: the named one, or else the first that the webhook subscribes to. Resolves with the result. */
  test(id: string, options: CallOptions & { readonly event?: WebhookEventName } = {}): Promise<WebhookLog> {
    const { event, ...rest } = options;
    const body = event === undefined ? {} : { event };
    return call(this.#transport, "POST /api/webhook/:id/test", { ...rest, params: { id }, body });
  }
}
