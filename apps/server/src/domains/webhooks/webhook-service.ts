import {
  type NewWebhook,
  WEBHOOK_EVENTS,
  type Webhook,
  type WebhookEventName,
  type WebhookLog,
  type WebhookPatch,
  type WebhookReplacement,
  type WebhookReplay,
} from "@weir/contract";
import { Places } from "../../platform/limits/places.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { BadRequest, type ListRequest, NotFound, type Page, TooManyRequests } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { isId, newId } from "../ids.ts";
import type { Owner } from "../schema.ts";
import { queueReplay } from "./delivery-outbox.ts";
import { resumeQueues } from "./delivery-store.ts";
import { withTimestamp } from "./webhook-body.ts";
import { callWebhook } from "./webhook-call.ts";
import { BadWebhookUrl, MissingIds, TooManyWebhooks } from "./webhook-errors.ts";
import { findWebhookLog, insertWebhookLog, listWebhookLogs } from "./webhook-log-store.ts";
import { webhookLogRecord, webhookRecord } from "./webhook-record.ts";
import {
  countWebhooks,
  deleteWebhooks,
  findWebhook,
  insertWebhook,
  listWebhooks,
  ownsStream,
  updateWebhook,
  type WebhookWithQueue,
} from "./webhook-store.ts";

export interface WebhookServiceDeps extends Deps {
  readonly outbound: Outbound;
}

const MAX_WEBHOOKS = 100;
/** Somebody waits for a test or a resend, so these calls have a shorter timeout than a delivery. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_CALLS = 20;
const MAX_CALLS_PER_PROJECT = 5;
/** With this many deliveries waiting, a replay is refused. The store counts no further. */
const MAX_WAITING = 1000;

/** The rules of webhooks. The worker delivers. */
export class WebhookService {
  readonly #deps: WebhookServiceDeps;
  readonly #calls = new Places({ inAll: MAX_CALLS, perHolder: MAX_CALLS_PER_PROJECT });

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps;
  }

  async create(owner: Owner, input: NewWebhook): Promise<Webhook> {
    const { db, clock } = this.#deps;
    await this.#check(owner, input);
    if ((await countWebhooks(db, owner)) >= MAX_WEBHOOKS) throw new TooManyWebhooks(MAX_WEBHOOKS);
    const row = await insertWebhook(db, {
      id: newId(),
      project_id: owner.projectId,
      user_id: owner.userId,
      created_at: clock.now(),
      ...columnsOf(input),
    });
    return webhookRecord({ ...row, waiting: "0" });
  }

  async get(owner: Owner, id: string): Promise<Webhook> {
    return webhookRecord(await this.#find(owner, id));
  }

  async list(owner: Owner, list: ListRequest): Promise<Page<Webhook>> {
    const page = await listWebhooks(this.#deps.db, owner, list, null);
    return { ...page, items: page.items.map(webhookRecord) };
  }

  async listSubscribed(owner: Owner, list: ListRequest, event: string): Promise<Page<Webhook>> {
    if (!WEBHOOK_EVENTS.some((name) => name === event)) throw new NotFound("no webhook event has this name");
    const page = await listWebhooks(this.#deps.db, owner, list, event);
    return { ...page, items: page.items.map(webhookRecord) };
  }

  /** A record that a client read and sends back contains no secret: the webhook keeps its own. */
  async replace(owner: Owner, id: string, input: WebhookReplacement): Promise<Webhook> {
    const { shared_secret } = await this.#find(owner, id);
    await this.#check(owner, input);
    const isSecretKept = input.isSigned === true && input.sharedSecret === undefined;
    const columns = { ...columnsOf(input), ...(isSecretKept ? { shared_secret } : {}) };
    await updateWebhook(this.#deps.db, owner, id, columns);
    return this.get(owner, id);
  }

  async patch(owner: Owner, id: string, patch: WebhookPatch): Promise<void> {
    const { db, clock } = this.#deps;
    const row = await this.#find(owner, id);
    await this.#check(owner, patch);
    const { paused, name, url, events, sharedSecret, streamId } = patch;
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: [...new Set(events)] }),
      ...(sharedSecret === undefined ? {} : { shared_secret: sharedSecret || null }),
      ...(streamId === undefined ? {} : { stream_id: streamId || null }),
      ...(paused === true && row.paused_at === null
        ? { paused_at: clock.now(), pause_reason: "it was paused by hand" }
        : {}),
      ...(paused === false ? { paused_at: null, pause_reason: null, failures: 0 } : {}),
    };
    if (Object.keys(change).length > 0) await updateWebhook(db, owner, id, change);
    if (paused === false) await resumeQueues(db, id, clock.now());
  }

  async delete(owner: Owner, id: string): Promise<Webhook> {
    const webhook = await this.get(owner, id);
    await this.deleteMany(owner, [id]);
    return webhook;
  }

  async deleteMany(owner: Owner, ids: readonly string[] | undefined): Promise<void> {
    if (!ids || ids.length === 0) throw new MissingIds();
    const unique = [...new Set(ids)];
    const isDone =
      unique.every(isId) && (await this.#deps.db.transaction().execute((trx) => deleteWebhooks(trx, owner, unique)));
    if (!isDone) throw new NotFound();
  }

  async listLogs(owner: Owner, id: string, list: ListRequest): Promise<Page<WebhookLog>> {
    await this.#find(owner, id);
    const page = await listWebhookLogs(this.#deps.db, owner, id, list);
    return { ...page, items: page.items.map(webhookLogRecord) };
  }

  async getLog(owner: Owner, id: string, logId: string): Promise<WebhookLog> {
    const row = await findWebhookLog(this.#deps.db, owner, id, logId);
    if (!row) throw new NotFound();
    return webhookLogRecord(row);
  }

  /** The same body, with the current time, to the webhook's current URL. */
  async resend(owner: Owner, id: string, logId: string): Promise<WebhookLog> {
    const webhook = await this.#find(owner, id);
    const { event, body } = (await findWebhookLog(this.#deps.db, owner, id, logId)) ?? {};
    if (event === undefined || body === undefined) throw new NotFound();
    return this.#call(webhook, event, (now) => withTimestamp(body, now));
  }

  /** A made-up event, marked as a test. */
  async test(owner: Owner, id: string, asked: WebhookEventName | undefined): Promise<WebhookLog> {
    const webhook = await this.#find(owner, id);
    const event = asked ?? webhook.events[0] ?? "stream.started";
    return this.#call(webhook, event, (now) =>
      JSON.stringify({
        id: newId(),
        webhookId: id,
        createdAt: now,
        timestamp: now,
        event,
        payload: { test: true },
      }),
    );
  }

  async replay(owner: Owner, id: string, { from, to }: WebhookReplay): Promise<number> {
    const { db, clock } = this.#deps;
    const { waiting } = await this.#find(owner, id);
    if (from > to) throw new BadRequest("from must not be after to");
    if (Number(waiting) >= MAX_WAITING) {
      throw new TooManyRequests(`${MAX_WAITING} events or more wait for this webhook: replay once they are delivered`);
    }
    return queueReplay(db, { webhookId: id, projectId: owner.projectId, from, to, now: clock.now() });
  }

  async #call(row: WebhookWithQueue, event: WebhookEventName, bodyAt: (now: number) => string): Promise<WebhookLog> {
    if (!this.#calls.take(row.project_id)) {
      throw new TooManyRequests("too many webhooks are being tried by hand: wait until their answers are there");
    }
    try {
      const sentAt = this.#deps.clock.now();
      const webhook = { id: row.id, projectId: row.project_id, url: row.url, sharedSecret: row.shared_secret };
      const call = { webhook, event, body: bodyAt(sentAt), sentAt, attempt: 1, timeoutMs: CALL_TIMEOUT_MS };
      const { log } = await callWebhook(this.#deps, call);
      return webhookLogRecord(await insertWebhookLog(this.#deps.db, log));
    } finally {
      this.#calls.giveBack(row.project_id);
    }
  }

  async #find(owner: Owner, id: string): Promise<WebhookWithQueue> {
    const row = await findWebhook(this.#deps.db, owner, id);
    if (!row) throw new NotFound();
    return row;
  }

  async #check(
    owner: Owner,
    { url, streamId, projectId }: Pick<Partial<NewWebhook>, "url" | "streamId" | "projectId">,
  ): Promise<void> {
    if (projectId !== undefined && projectId !== owner.projectId) throw new NotFound();
    const refusal = url === undefined ? null : this.#deps.outbound.refusalOf(url);
    if (refusal !== null) throw new BadWebhookUrl(refusal);
    if (streamId && !(await ownsStream(this.#deps.db, owner, streamId))) throw new BadRequest("stream not found");
  }
}

function columnsOf({ name, url, events, event, sharedSecret, streamId }: NewWebhook) {
  return {
    name,
    url,
    events: [...new Set(events ?? (event === undefined ? [] : [event]))],
    shared_secret: sharedSecret || null,
    stream_id: streamId || null,
  };
}
