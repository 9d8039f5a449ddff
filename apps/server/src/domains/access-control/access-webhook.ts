import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import { signBody } from "../../platform/outbound/body-signature.ts";
import type { Outbound, OutboundAnswer } from "../../platform/outbound/outbound.ts";
import { SharedWork } from "../../platform/shared-work.ts";
import type { ViewerDetails } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import { LastingAnswers } from "../lasting-answers.ts";
import { CallLanes } from "./call-lanes.ts";
import { afterVerdict, type Standing, type WebhookVerdict } from "./webhook-standing.ts";

/** A project's webhook that is registered for `playback.accessControl`. */
export interface AccessWebhook {
  readonly id: string;
  readonly url: string;
  readonly sharedSecret: string | null;
}

export type FindAccessWebhook = (projectId: string, webhookId: string) => Promise<AccessWebhook | undefined>;

/** The question to the customer: may a viewer with this access key watch this content? */
export interface AccessQuestion {
  readonly projectId: string;
  readonly playbackId: string;
  readonly webhookId: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly accessKey: string;
}

export interface WebhookAnswer {
  /** `not-asked`: too many questions are waiting, which says nothing about the webhook. */
  readonly verdict: WebhookVerdict | "not-asked";
  /** A sentence for the receiver's owner. */
  readonly why: string;
  /** Present if there was a response. */
  readonly statusCode?: number;
  /** The receiver failed: no response, the response of an overloaded or broken server, or an address that Weir does not call. */
  readonly hasFailed: boolean;
}

/** Whether a current viewer may continue, and for how many milliseconds. */
export type Recheck =
  | { readonly verdict: "allowed"; readonly forMs: number }
  | { readonly verdict: "refused" | "unconfirmed" };

/** The outcome of a webhook's last call, for its status: null if it was answered. */
export interface AccessCallFailure {
  readonly timestamp: number;
  readonly statusCode?: number;
  readonly error: string;
}

export interface AccessWebhooksDeps extends Pick<Deps, "clock" | "log"> {
  readonly outbound: Pick<Outbound, "post">;
  readonly findAccessWebhook: FindAccessWebhook;
  /** Writes the outcome of a call into the webhook's status. */
  noteAccessCall(webhookId: string, at: number, failure: AccessCallFailure | null): Promise<void>;
}

/** From the request to the status, including the wait for a turn. */
const CALL_MS = 5_000;
const MAX_CALLS = 100;
const MAX_WAITING_CALLS = 5_000;
const MAX_STANDINGS = 100_000;
/** Request Timeout, Too Early, Too Many Requests: the receiver is busy, as with a 5xx. */
const OVERLOADED = new Set([408, 425, 429]);
const WEBHOOK_MS = 2_000;
const MAX_WEBHOOKS = 1_000;
/** How often a webhook's status is written, for successes and failures separately. */
const STATUS_MS = 10_000;

/**
 * Asks customers' access webhooks. Only the status decides; the response body is never read. New viewers share a call only if they ask the same
 * question at the same moment. For current viewers an answer is valid until the refresh interval ends, for everyone who came with the same key.
 */
export class AccessWebhooks {
  readonly #deps: AccessWebhooksDeps;
  readonly #newcomers = new CallLanes({ atATime: MAX_CALLS, maxWaiting: MAX_WAITING_CALLS });
  /** A separate lane for viewers whom a webhook has admitted before: invented keys cannot fill it. */
  readonly #present = new CallLanes({ atATime: MAX_CALLS, maxWaiting: MAX_WAITING_CALLS });
  readonly #asking = new SharedWork<WebhookAnswer>();
  /** An evicted viewer becomes unconfirmed. */
  readonly #standings = new LRUCache<string, Standing>({ max: MAX_STANDINGS });
  readonly #webhooks: LastingAnswers<AccessWebhook>;
  readonly #notes: RateLimit;
  #calls = 0;

  constructor(deps: AccessWebhooksDeps) {
    this.#deps = deps;
    this.#notes = new RateLimit({ clock: deps.clock, quota: 1, windowMs: STATUS_MS });
    this.#webhooks = new LastingAnswers(deps.clock, { freshMs: WEBHOOK_MS, capacity: MAX_WEBHOOKS });
  }

  /** Number of calls made. */
  get calls(): number {
    return this.#calls;
  }

  /** For a new viewer. */
  async ask(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<WebhookAnswer> {
    const key = keyOf(question);
    const answer = await this.#share(key, this.#newcomers, question, viewer);
    // Refusing a new viewer, for example one device too many, says nothing about current viewers.
    if (answer.verdict === "allowed") this.#stand(key, "allowed", refreshMs);
    return answer;
  }

  /** For a viewer who was admitted before. */
  async recheck(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<Recheck> {
    const key = keyOf(question);
    const standing = this.#standings.get(key);
    if (standing && this.#deps.clock.monotonic() < standing.askAt) return this.#recheckOf(standing);
    const { verdict } = await this.#share(`again ${key}`, this.#present, question, viewer);
    return verdict === "not-asked" ? { verdict: "unconfirmed" } : this.#recheckOf(this.#stand(key, verdict, refreshMs));
  }

  /** Webhooks may have changed. */
  forget(): void {
    this.#webhooks.forget("all");
  }

  #recheckOf({ verdict, askAt }: Standing): Recheck {
    return verdict === "allowed" ? { verdict, forMs: askAt - this.#deps.clock.monotonic() } : { verdict };
  }

  #share(key: string, lanes: CallLanes, question: AccessQuestion, viewer: ViewerDetails): Promise<WebhookAnswer> {
    const deadline = this.#deps.clock.monotonic() + CALL_MS;
    const call = () => this.#call(question, viewer, deadline);
    return this.#asking.run(() => lanes.run(question.webhookId, call, NOT_ASKED), key);
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

  /** No caller waits for this. A refusal is not a failure. */
  #note(webhookId: string, timestamp: number, { hasFailed, why: error, statusCode }: WebhookAnswer): void {
    if (!this.#notes.take(`${webhookId} ${hasFailed}`).isAllowed) return;
    const failure = hasFailed ? { timestamp, error, ...(statusCode === undefined ? {} : { statusCode }) } : null;
    this.#deps.noteAccessCall(webhookId, timestamp, failure).catch((cause: unknown) => {
      this.#deps.log.warn({ err: cause, webhookId }, "could not record the result of an access webhook call");
    });
  }

  #find({ projectId, webhookId }: AccessQuestion): Promise<AccessWebhook | undefined> {
    const key = `${projectId} ${webhookId}`;
    const look = () => this.#deps.findAccessWebhook(projectId, webhookId);
    return this.#webhooks.get(key, look);
  }

  #stand(key: string, verdict: WebhookVerdict, refreshMs: number): Standing {
    const now = this.#deps.clock.monotonic();
    const standing = afterVerdict(this.#standings.get(key), verdict, { now, refreshMs });
    this.#standings.set(key, standing);
    return standing;
  }
}

/** Another webhook or context is another question. A hash, because thousands are cached and a context may be long. */
const keyOf = ({ playbackId, webhookId, accessKey, context }: AccessQuestion): string =>
  hash("sha256", JSON.stringify([playbackId, webhookId, accessKey, context]), "base64url");

/** The three documented fields first, in order; the fields that public receivers look for follow. */
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
