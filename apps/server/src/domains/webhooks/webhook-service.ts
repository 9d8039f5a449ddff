import type {
  NewWebhook,
  Webhook,
  WebhookEventName,
  WebhookLog,
  WebhookPatch,
  WebhookReplacement,
  WebhookReplay,
  WebhookRequest,
} from "@weir/contract";
import { Places } from "../../platform/limits/places.ts";
import { TooManyWaiting, Turns } from "../../platform/limits/turns.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { ApiError, BadRequest, found, NotFound, RefusedUrl, TooManyRequests } from "../api/index.ts";
import { isId, newId } from "../ids.ts";
import { ownsStream, updateOwned } from "../owned-row.ts";
import type { Owner } from "../schema.ts";
import { queueReplay } from "./delivery-outbox.ts";
import { type PickupDeps, takeWaiting } from "./delivery-pickup.ts";
import { resumeQueues } from "./delivery-store.ts";
import { withTimestamp } from "./webhook-body.ts";
import { callWebhook } from "./webhook-call.ts";
import { findWebhookLog } from "./webhook-log-store.ts";
import { webhookLogRecord, webhookRecord } from "./webhook-record.ts";
import { countWebhooks, deleteWebhooks, findWebhook, type WebhookWithQueue } from "./webhook-store.ts";

export interface WebhookServiceDeps extends PickupDeps {
  readonly outbound: Outbound;
}

const MAX_WEBHOOKS = 100;
/** Somebody waits for a test or a resend, so these calls have a shorter timeout than a delivery. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_CALLS = 20;
const MAX_CALLS_PER_PROJECT = 5;
/** Each holds a connection to the database while it asks for a second one: more of them than connections would wait for each other. */
const MAX_TAKES = 2;
const MAX_WAITING_TAKES = 200;
/** With this many deliveries waiting, a replay is refused. The store counts no further. */
const MAX_WAITING = 1000;

/** The rules of webhooks. The worker delivers. */
export class WebhookService {
  readonly #deps: WebhookServiceDeps;
  readonly #calls = new Places({ inAll: MAX_CALLS, perHolder: MAX_CALLS_PER_PROJECT });
  readonly #takes = new Turns({ atATime: MAX_TAKES, maxWaiting: MAX_WAITING_TAKES });

  constructor(deps: WebhookServiceDeps) {
    this.#deps = deps;
  }

  async create(owner: Owner, input: NewWebhook): Promise<Webhook> {
    const { db, clock } = this.#deps;
    await this.#check(owner, input);
    if ((await countWebhooks(db, owner)) >= MAX_WEBHOOKS)
      throw new BadRequest(`a project may have ${MAX_WEBHOOKS} webhooks: delete one that is not needed`);
    const of = { project_id: owner.projectId, user_id: owner.userId };
    const row = { id: newId(), ...of, created_at: clock.now(), ...columnsOf(input) };
    const made = await db.insertInto("webhook").values(row).returningAll().executeTakeFirstOrThrow();
    return webhookRecord({ ...made, waiting: "0" });
  }

  async find(owner: Owner, id: string): Promise<WebhookWithQueue> {
    return found(await findWebhook(this.#deps.db, owner, id));
  }

  /** A record that a client read and sends back contains no secret: the webhook keeps its own. */
  async replace(owner: Owner, id: string, input: WebhookReplacement): Promise<Webhook> {
    const { shared_secret } = await this.find(owner, id);
    await this.#check(owner, input);
    const isSecretKept = input.isSigned === true && input.sharedSecret === undefined;
    const columns = { ...columnsOf(input), ...(isSecretKept ? { shared_secret } : {}) };
    await updateOwned(this.#deps.db, "webhook", owner, id, columns);
    return webhookRecord(await this.find(owner, id));
  }

  async patch(owner: Owner, id: string, patch: WebhookPatch): Promise<void> {
    const { db, clock } = this.#deps;
    const row = await this.find(owner, id);
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
    if (Object.keys(change).length > 0) await updateOwned(db, "webhook", owner, id, change);
    if (paused === false) await resumeQueues(db, id, clock.now());
  }

  async delete(owner: Owner, id: string): Promise<Webhook> {
    const webhook = webhookRecord(await this.find(owner, id));
    await this.deleteMany(owner, [id]);
    return webhook;
  }

  async deleteMany(owner: Owner, ids: readonly string[] | undefined): Promise<void> {
    if (!ids || ids.length === 0) throw new ApiError(422, "missing-ids", "missing ids");
    const unique = [...new Set(ids)];
    const isDone =
      unique.every(isId) && (await this.#deps.db.transaction().execute((trx) => deleteWebhooks(trx, owner, unique)));
    if (!isDone) throw new NotFound();
  }

  /** The same body, with the current time, to the webhook's current URL. */
  async resend(owner: Owner, id: string, logId: string): Promise<WebhookLog> {
    const webhook = await this.find(owner, id);
    const { event, body } = found(await findWebhookLog(this.#deps.db, owner, id, logId));
    return this.#call(webhook, event, (now) => withTimestamp(body, now));
  }

  /** A made-up event, marked as a test. */
  async test(owner: Owner, id: string, asked: WebhookEventName | undefined): Promise<WebhookLog> {
    const webhook = await this.find(owner, id);
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
    const { waiting } = await this.find(owner, id);
    if (from > to) throw new BadRequest("from must not be after to");
    if (Number(waiting) >= MAX_WAITING) {
      throw new TooManyRequests(`${MAX_WAITING} events or more wait for this webhook: replay once they are delivered`);
    }
    return queueReplay(db, { webhookId: id, projectId: owner.projectId, from, to, now: clock.now() });
  }

  /** For a receiver that Weir cannot call. Only of a paused webhook, whose events wait for nobody else. */
  async take(owner: Owner, id: string): Promise<WebhookRequest[]> {
    const { paused_at } = await this.find(owner, id);
    if (paused_at === null)
      throw new BadRequest("the webhook is not paused, so Weir delivers its events: pause it first");
    return this.#takes
      .run(() => takeWaiting(this.#deps, id))
      .catch((error: unknown) => {
        if (!(error instanceof TooManyWaiting)) throw error;
        throw new TooManyRequests("too many webhooks are being taken from: try again in a second");
      });
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
      const insert = this.#deps.db.insertInto("webhook_log").values(log).returningAll();
      return webhookLogRecord(await insert.executeTakeFirstOrThrow());
    } finally {
      this.#calls.giveBack(row.project_id);
    }
  }

  async #check(
    owner: Owner,
    { url, streamId, projectId }: Pick<Partial<NewWebhook>, "url" | "streamId" | "projectId">,
  ): Promise<void> {
    if (projectId !== undefined && projectId !== owner.projectId) throw new NotFound();
    const refusal = url === undefined ? null : this.#deps.outbound.refusalOf(url);
    if (refusal !== null) throw new RefusedUrl("webhooks cannot be sent to this url", refusal);
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
