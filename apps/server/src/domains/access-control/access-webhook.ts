import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { signBody } from "../../platform/outbound/body-signature.ts";
import type { Outbound, OutboundAnswer } from "../../platform/outbound/outbound.ts";
import type { ViewerDetails } from "../../ports/index.ts";
import { DecisionCache } from "../decision-cache.ts";
import { LastKnown } from "../last-known.ts";
import { CallLanes } from "./call-lanes.ts";
import { SparseNotes } from "./sparse-notes.ts";
import { afterVerdict, type Standing, type WebhookVerdict } from "./webhook-standing.ts";

/** A webhook of a project that is registered for `playback.accessControl`. */
export interface AccessWebhook {
  readonly id: string;
  readonly url: string;
  readonly sharedSecret: string | null;
}

export type FindAccessWebhook = (projectId: string, webhookId: string) => Promise<AccessWebhook | undefined>;

/** The question to a customer: may the viewer who brings this key watch this? */
export interface AccessQuestion {
  readonly projectId: string;
  readonly playbackId: string;
  readonly webhookId: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly accessKey: string;
}

export interface WebhookAnswer {
  /** `not-asked`: too many questions wait already, which says nothing of the webhook. */
  readonly verdict: WebhookVerdict | "not-asked";
  /** A sentence for the receiver's owner. */
  readonly why: string;
  /** Where there was a response. */
  readonly statusCode?: number;
  /** The receiver did not do its work: no response, one of an overloaded or broken server, or an address that we do not call. */
  readonly hasFailed: boolean;
}

/** Whether somebody who watches may go on, and for how many milliseconds. */
export type Recheck =
  | { readonly verdict: "allowed"; readonly forMs: number }
  | { readonly verdict: "refused" | "unconfirmed" };

/** How a webhook's last call went, for its status: null for one that was answered. */
export interface AccessCallFailure {
  readonly timestamp: number;
  readonly statusCode?: number;
  readonly error: string;
}

export interface AccessWebhooksDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<Outbound, "post">;
  readonly findAccessWebhook: FindAccessWebhook;
  /** Writes how a call went into the webhook's status. */
  noteAccessCall(webhookId: string, at: number, failure: AccessCallFailure | null): Promise<void>;
}

/** From the request to the status, the wait for a turn included. */
const CALL_MS = 5_000;
const MAX_CALLS = 100;
const MAX_WAITING_CALLS = 5_000;
const MAX_STANDINGS = 100_000;
/** Request Timeout, Too Early, Too Many Requests: the receiver has no time, as with a 5xx. */
const OVERLOADED = new Set([408, 425, 429]);
const WEBHOOK_MS = 2_000;
const MAX_WEBHOOKS = 1_000;
/** How often a webhook's status is written, its successes and its failures each. */
const STATUS_MS = 10_000;

/**
 * Asks customers' access webhooks. The status alone decides; the answer's body is never read. Only who waits at the
 * same moment for the same question shares a call. For viewers who watch already, an answer stands until the refresh interval
 * is over, for all who came with the same key.
 */
export class AccessWebhooks {
  readonly #deps: AccessWebhooksDeps;
  readonly #newcomers = new CallLanes({ atOnce: MAX_CALLS, maxWaiting: MAX_WAITING_CALLS });
  /** A lane of their own for those whom a webhook let in before: invented keys do not get into it. */
  readonly #present = new CallLanes({ atOnce: MAX_CALLS, maxWaiting: MAX_WAITING_CALLS });
  readonly #asking = new Map<string, Promise<WebhookAnswer>>();
  /** One that is evicted is unconfirmed. */
  readonly #standings = new LRUCache<string, Standing>({ max: MAX_STANDINGS });
  readonly #webhooks: DecisionCache<AccessWebhook | undefined>;
  readonly #lastWebhooks: LastKnown<AccessWebhook>;
  readonly #notes: SparseNotes;
  #calls = 0;

  constructor(deps: AccessWebhooksDeps) {
    this.#deps = deps;
    this.#notes = new SparseNotes(deps.clock, STATUS_MS);
    this.#webhooks = new DecisionCache(deps.clock, WEBHOOK_MS, MAX_WEBHOOKS);
    this.#lastWebhooks = new LastKnown(deps.clock, MAX_WEBHOOKS);
  }

  /** How many calls have been made. */
  get calls(): number {
    return this.#calls;
  }

  /** For somebody new. */
  async ask(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<WebhookAnswer> {
    const key = keyOf(question);
    const answer = await this.#share(key, this.#newcomers, question, viewer);
    // A newcomer who is refused, as one device too many may be, says nothing of those who watch.
    if (answer.verdict === "allowed") this.#stand(key, "allowed", refreshMs);
    return answer;
  }

  /** For somebody who was let in before. */
  async recheck(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<Recheck> {
    const key = keyOf(question);
    const standing = this.#standings.get(key);
    if (standing && this.#deps.clock.monotonic() < standing.askAt) return this.#recheckOf(standing);
    const { verdict } = await this.#share(`again ${key}`, this.#present, question, viewer);
    return verdict === "not-asked" ? { verdict: "unconfirmed" } : this.#recheckOf(this.#stand(key, verdict, refreshMs));
  }

  /** Webhooks may have been changed. */
  forget(): void {
    this.#webhooks.clear();
    this.#lastWebhooks.clear();
  }

  #recheckOf({ verdict, askAt }: Standing): Recheck {
    return verdict === "allowed" ? { verdict, forMs: askAt - this.#deps.clock.monotonic() } : { verdict };
  }

  #share(key: string, lanes: CallLanes, question: AccessQuestion, viewer: ViewerDetails): Promise<WebhookAnswer> {
    const asked = this.#asking.get(key);
    if (asked) return asked;
    const deadline = this.#deps.clock.monotonic() + CALL_MS;
    const answer = lanes
      .run(
        question.webhookId,
        () => this.#call(question, viewer, deadline),
        async () => NOT_ASKED,
      )
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, answer);
    return answer;
  }

  async #call(question: AccessQuestion, viewer: ViewerDetails, deadline: number): Promise<WebhookAnswer> {
    const { clock, outbound } = this.#deps;
    const webhook = await this.#find(question);
    if (!webhook) return refusal("the policy's webhook is gone, or is not for playback.accessControl");
    const timeoutMs = deadline - clock.monotonic();
    if (timeoutMs <= 0) return silence("the webhook is too slow for the viewers that come");
    const timestamp = clock.now();
    const body = bodyOf(question, viewer, timestamp);
    const signature = webhook.sharedSecret ? signBody(webhook.sharedSecret, body, timestamp) : {};
    this.#calls += 1;
    const headers = { "content-type": "application/json", "user-agent": "weir", ...signature };
    const answer = judge(await outbound.post({ url: webhook.url, body, headers, timeoutMs, maxResponseBytes: 0 }));
    this.#note(webhook.id, timestamp, answer);
    return answer;
  }

  /** No caller waits for it. A refusal is no failure. */
  #note(webhookId: string, timestamp: number, { hasFailed, why: error, statusCode }: WebhookAnswer): void {
    if (!this.#notes.isDue(`${webhookId} ${hasFailed}`)) return;
    const failure = hasFailed ? { timestamp, error, ...(statusCode === undefined ? {} : { statusCode }) } : null;
    this.#deps.noteAccessCall(webhookId, timestamp, failure).catch((cause: unknown) => {
      this.#deps.log.warn({ err: cause, webhookId }, "could not record the result of an access webhook call");
    });
  }

  #find({ projectId, webhookId }: AccessQuestion): Promise<AccessWebhook | undefined> {
    const key = `${projectId} ${webhookId}`;
    const look = () => this.#deps.findAccessWebhook(projectId, webhookId);
    return this.#webhooks.get(key, () => this.#lastWebhooks.get(key, look));
  }

  #stand(key: string, verdict: WebhookVerdict, refreshMs: number): Standing {
    const now = this.#deps.clock.monotonic();
    const standing = afterVerdict(this.#standings.get(key), verdict, { now, refreshMs });
    this.#standings.set(key, standing);
    return standing;
  }
}

/** Another webhook or context is another question. A hash, for it is kept by the thousand, and a context may be long. */
const keyOf = ({ playbackId, webhookId, accessKey, context }: AccessQuestion): string =>
  hash("sha256", JSON.stringify([playbackId, webhookId, accessKey, context]), "base64url");

/** The three documented fields first, in their order; fields that public receivers look for come after. */
function bodyOf({ accessKey, context }: AccessQuestion, viewer: ViewerDetails, timestamp: number): string {
  const protocol = viewer.url.slice(0, Math.max(0, viewer.url.indexOf(":")));
  return JSON.stringify({
    accessKey,
    context,
    timestamp,
    userIP: viewer.address,
    playDomain: viewer.host,
    playURL: viewer.url,
    headers: {
      "User-Agent": viewer.userAgent,
      Referer: viewer.referer,
      "X-Forwarded-Proto": protocol,
      Host: viewer.host,
      Origin: viewer.origin ?? "",
    },
  });
}

function judge(answer: OutboundAnswer): WebhookAnswer {
  if (!answer.ok) {
    const why = `the webhook could not be asked: ${answer.message}`;
    return answer.reason === "refused" ? { ...refusal(why), hasFailed: true } : silence(why);
  }
  const { status: statusCode } = answer;
  const why = `the webhook answered ${statusCode}`;
  if (statusCode >= 200 && statusCode < 300) return { verdict: "allowed", why, statusCode, hasFailed: false };
  const hasFailed = statusCode >= 500 || OVERLOADED.has(statusCode);
  return { ...refusal(`${why}, and only a 2xx lets a viewer in`), statusCode, hasFailed };
}

const refusal = (why: string): WebhookAnswer => ({ verdict: "refused", why, hasFailed: false });
const silence = (why: string): WebhookAnswer => ({ verdict: "silent", why, hasFailed: true });
const NOT_ASKED: WebhookAnswer = {
  verdict: "not-asked",
  why: "too many calls to the webhook are waiting already",
  hasFailed: false,
};
