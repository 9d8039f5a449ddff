import type { Timer } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import { sleep } from "../../platform/retry.ts";
import type { Deps } from "../deps.ts";
import type { Schema } from "../schema.ts";
import { bodyOfDelivery, type Snapshots } from "./delivery-body.ts";
import { WEBHOOK_CHANNEL } from "./delivery-outbox.ts";
import { nextDelivery } from "./delivery-status.ts";
import {
  claimQueues,
  deleteDelivery,
  dropQueue,
  finishQueue,
  hasDueQueue,
  keepClaim,
  noteCall,
  putOff,
  type QueueHead,
  type QueueKey,
  readHeads,
  releaseClaims,
  releaseQueue,
} from "./delivery-store.ts";
import type { SubjectSnapshot } from "./webhook-body.ts";
import { callWebhook, type WebhookCallDeps } from "./webhook-call.ts";

export interface DeliveryWorkerDeps extends Deps, WebhookCallDeps {
  readonly channels: Pick<Database<Schema>, "listen">;
  readonly node: { readonly id: string };
  readonly snapshots: Snapshots;
  /** From 0 to 1. */
  readonly random?: () => number;
}

const CALL_TIMEOUT_MS = 30_000;
const MAX_AT_ONCE = 128;
/** Limit per project, so that a project whose webhooks all hang does not delay others. */
const MAX_OF_ONE_PROJECT = 64;
const MAX_OF_ONE_WEBHOOK = 16;
const PAUSE_AFTER = 100;
/** Notifications make delivery prompt. This poll finds retries, and events whose notification was lost. */
const POLL_MS = 1_000;
/** Deliveries read from one queue at once, and how many such reads before other queues have their turn. */
const TURN = 20;
const TURNS = 3;
/** How long the worker caches a webhook and its subject. */
const FRESH_MS = 1_000;
const CLOSE_WITHIN_MS = 2_000;

/**
 * Delivers the contents of the outbox, in the worker role, in any number of processes. One process at a time claims a queue (one webhook, one
 * subject) and sends it in order. If a process dies while sending, the event is sent again with the same id.
 */
export class DeliveryWorker {
  readonly #deps: DeliveryWorkerDeps;
  readonly #working = new Map<string, number>();
  readonly #inFlight = new Set<Promise<void>>();
  #timer: Timer | null = null;
  #claiming: Promise<void> | null = null;
  #claimAgain = false;
  #isClosed = false;
  #stopListening: Promise<{ close(): Promise<void> }> | null = null;

  constructor(deps: DeliveryWorkerDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#timer || this.#isClosed) return;
    const { db, clock, channels, log, node } = this.#deps;
    this.#timer = clock.every(POLL_MS, () => this.wake());
    const wake = () => this.wake();
    this.#stopListening = channels.listen(WEBHOOK_CHANNEL, { message: wake, reconnected: wake });
    this.#stopListening.catch((err) => log.warn({ err }, "LISTEN failed; polling for webhook deliveries every second"));
    releaseClaims(db, node.id).then(wake, (err) =>
      log.warn({ err }, "could not release webhook claims of an earlier run; they expire by themselves"),
    );
  }

  /** Look for due deliveries. Concurrent calls share one look, and one more after it. */
  wake(): void {
    this.#claimAgain = true;
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = null;
      if (this.#claimAgain && !this.#isClosed && this.#inFlight.size < MAX_AT_ONCE) this.wake();
    });
  }

  /** Deliver everything that is due, and resolve when nothing is being sent. For tests with a clock that stands still. */
  async run(): Promise<void> {
    do {
      this.wake();
      while (this.#claiming || this.#inFlight.size > 0) await Promise.all([this.#claiming, ...this.#inFlight]);
    } while (this.#claimAgain);
  }

  /** A running call has 2 s to end; otherwise the next worker, or this one after its restart, sends it again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    const subscription = await this.#stopListening?.catch(() => null);
    await subscription?.close();
    await this.#claiming;
    await Promise.race([Promise.all(this.#inFlight), sleep(this.#deps.clock, CLOSE_WITHIN_MS)]);
    const calls = this.#inFlight.size;
    if (calls > 0) this.#deps.log.info({ calls }, "pending webhook requests will be sent again");
    if (this.#timer) await releaseClaims(this.#deps.db, this.#deps.node.id).catch(() => {});
  }

  async #claimAll(): Promise<void> {
    this.#claimAgain = false;
    const limit = MAX_AT_ONCE - this.#inFlight.size;
    if (limit <= 0 || this.#isClosed) return;
    const { db, clock, node, log } = this.#deps;
    try {
      if (!(await hasDueQueue(db, clock.now()))) return;
      const limits = { limit, limitOfOne: MAX_OF_ONE_WEBHOOK, limitOfProject: MAX_OF_ONE_PROJECT };
      const claim = { nodeId: node.id, now: clock.now(), ...limits, busy: this.#working };
      for (const key of await claimQueues(db, claim)) this.#begin(key);
    } catch (err) {
      log.warn({ err }, "could not look for webhook deliveries; retrying in a second");
    }
  }

  #begin(key: QueueKey): void {
    const { webhookId } = key;
    this.#working.set(webhookId, (this.#working.get(webhookId) ?? 0) + 1);
    const work = this.#deliverQueue(key)
      .catch((err) => {
        // The claim expires; the next worker to look sends it again.
        this.#deps.log.warn({ err, webhookId }, "webhook delivery interrupted; it will be sent again");
      })
      .finally(() => {
        this.#inFlight.delete(work);
        const left = (this.#working.get(webhookId) ?? 1) - 1;
        if (left > 0) this.#working.set(webhookId, left);
        else this.#working.delete(webhookId);
        if (!this.#isClosed) this.wake();
      });
    this.#inFlight.add(work);
  }

  async #deliverQueue(key: QueueKey): Promise<void> {
    const { db, clock, node, snapshots } = this.#deps;
    for (let turn = 0; turn < TURNS && !this.#isClosed; turn++) {
      if (!(await keepClaim(db, key, node.id, clock.now()))) return;
      const heads = await readHeads(db, key, TURN);
      const { kind, id } = key.subject;
      const snapshot = heads.length > 0 ? await snapshots.subject[kind](id) : {};
      const readAt = clock.monotonic();
      for (const head of heads) {
        if (this.#isClosed || clock.monotonic() - readAt > FRESH_MS) break;
        if (!(await this.#deliver(key, head, snapshot))) return;
      }
      if (heads.length === 0 && (await db.transaction().execute((trx) => finishQueue(trx, key)))) return;
    }
    await releaseQueue(db, key, node.id);
  }

  /** Whether to send the next delivery of the queue; if not, release the queue. */
  async #deliver(key: QueueKey, head: QueueHead, snapshot: SubjectSnapshot): Promise<boolean> {
    const { db, clock, node, log, snapshots, random = Math.random } = this.#deps;
    const { webhook, attempts, firstTriedAt, isLate } = head;
    if (!webhook) {
      await db.transaction().execute((trx) => dropQueue(trx, key));
      return false;
    }
    if (webhook.isPaused) {
      await releaseQueue(db, key, node.id);
      return false;
    }
    const sentAt = clock.now();
    const body = await bodyOfDelivery(snapshots, { key, head, webhook, snapshot, sentAt });
    if (body === null) {
      log.warn({ webhookId: webhook.id }, "an event was dropped from the log before its webhook could be called");
      await deleteDelivery(db, head.id);
      return true;
    }
    const sending = nextDelivery({ state: "due", attempts, firstTriedAt, isLate }, { type: "send" }, sentAt);
    if (sending.state !== "sending") throw new Error(`a delivery that is sent is ${sending.state}`);
    const call = { webhook, event: head.event, body, sentAt, attempt: sending.attempts, timeoutMs: CALL_TIMEOUT_MS };
    const { outcome, ...called } = await callWebhook(this.#deps, call);
    const next = nextDelivery(sending, { type: "outcome", outcome, jitter: random() }, clock.now());
    const retryAt = next.state === "due" ? (next.at ?? sentAt) : null;
    const note = {
      ...called,
      log: { ...called.log, retry_at: retryAt },
      webhookId: webhook.id,
      pauseAfter: PAUSE_AFTER,
    };
    const leavesLane = next.state === "due" && next.isLate && !isLate;
    const isPaused =
      next.state === "due" && retryAt !== null
        ? await db.transaction().execute(async (trx) => {
            const again = {
              deliveryId: head.id,
              at: retryAt,
              attempts: next.attempts,
              firstTriedAt: sending.firstTriedAt,
              leavesLane,
            };
            await putOff(trx, key, node.id, again);
            return noteCall(trx, { ...note, overId: null });
          })
        : await noteCall(db, { ...note, overId: head.id });
    if (next.state === "given-up") log.warn({ webhookId: webhook.id, why: next.why }, "dropped a webhook delivery");
    if (isPaused) log.warn({ webhookId: webhook.id }, `a webhook is paused: ${PAUSE_AFTER} calls in a row failed`);
    if (next.state === "due" && !leavesLane) return false;
    if (isPaused) await releaseQueue(db, key, node.id);
    return !isPaused;
  }
}
