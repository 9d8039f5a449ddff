import type {
  NewWebhook,
  Webhook,
  WebhookEventName,
  WebhookLog,
  WebhookPatch,
  WebhookReplay,
  WebhookReplayed,
} from "@weir/contract";
import { eachOf, fetchPage, type ListOptions, type Page } from "./page.ts";
import type { CallOptions, Transport } from "./transport.ts";

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

  create(webhook: NewWebhook, call: CallOptions = {}): Promise<Webhook> {
    return this.#transport.json("POST", "/api/webhook", { ...call, body: webhook });
  }

  get(id: string, call: CallOptions = {}): Promise<Webhook> {
    return this.#transport.json("GET", pathOf(id), call);
  }

  /** One page, the newest first. */
  list({ limit, cursor, signal }: ListOptions = {}): Promise<Page<Webhook>> {
    return fetchPage(this.#transport, "/api/webhook", { limit, cursor }, { signal });
  }

  /** Every webhook, page after page. */
  each(options: ListOptions = {}): AsyncGenerator<Webhook, void> {
    return eachOf((cursor) => this.list({ ...options, cursor }), options.cursor);
  }

  /** Name, events, URL, secret and stream become what is given; what is not given is gone, the secret too. */
  replace(id: string, webhook: NewWebhook, call: CallOptions = {}): Promise<Webhook> {
    return this.#transport.json("PUT", pathOf(id), { ...call, body: webhook });
  }

  async patch(id: string, changes: WebhookPatch, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("PATCH", pathOf(id), { ...call, body: changes });
  }

  /** Events are kept for 7 days and not delivered; false delivers what waits and goes on. */
  async pause(id: string, paused = true, call: CallOptions = {}): Promise<void> {
    await this.patch(id, { paused }, call);
  }

  async delete(id: string, call: CallOptions = {}): Promise<void> {
    await this.#transport.send("DELETE", pathOf(id), call);
  }

  /** One page of calls, the latest first. */
  logs(id: string, { limit, cursor, signal, event, success }: WebhookLogOptions = {}): Promise<Page<WebhookLog>> {
    const filters = [
      { id: "event", value: event },
      { id: "success", value: success },
    ].filter(({ value }) => value !== undefined);
    const query = { limit, cursor, filters: filters.length > 0 ? JSON.stringify(filters) : undefined };
    return fetchPage(this.#transport, `${pathOf(id)}/log`, query, { signal });
  }

  log(id: string, logId: string, call: CallOptions = {}): Promise<WebhookLog> {
    return this.#transport.json("GET", logPathOf(id, logId), call);
  }

  /** Makes the call once more, now; resolves with what came of it, also when it failed. Takes 10 s at most. */
  resend(id: string, logId: string, call: CallOptions = {}): Promise<WebhookLog> {
    return this.#transport.json("POST", `${logPathOf(id, logId)}/resend`, call);
  }

  /** Queues the events of a time range once more, in order and under their old ids. */
  replay(id: string, range: WebhookReplay, call: CallOptions = {}): Promise<WebhookReplayed> {
    return this.#transport.json("POST", `${pathOf(id)}/replay`, { ...call, body: range });
  }

  /** Sends a made-up event now, the first that the webhook is about where none is named; resolves with what came of it. */
  test(id: string, options: CallOptions & { readonly event?: WebhookEventName } = {}): Promise<WebhookLog> {
    const { event, ...call } = options;
    const body = event === undefined ? {} : { event };
    return this.#transport.json("POST", `${pathOf(id)}/test`, { ...call, body });
  }
}

function pathOf(id: string): string {
  return `/api/webhook/${encodeURIComponent(id)}`;
}

function logPathOf(id: string, logId: string): string {
  return `${pathOf(id)}/log/${encodeURIComponent(logId)}`;
}
