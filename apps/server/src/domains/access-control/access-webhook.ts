import { hash } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { signBody } from "../../platform/outbound/body-signature.ts";
import type { Outbound, OutboundAnswer } from "../../platform/outbound/outbound.ts";
import type { ViewerDetails } from "../../ports.ts";
import { DecisionCache } from "../decision-cache.ts";
import { CallLanes } from "./call-lanes.ts";
import { SparseNotes } from "./sparse-notes.ts";

/** A webhook of a project that is registered for `playback.accessControl`. */
export interface AccessWebhook {
  readonly id: string;
  readonly url: string;
  readonly sharedSecret: string | null;
}

export type FindAccessWebhook = (projectId: string, webhookId: string) => Promise<AccessWebhook | undefined>;

/** What a customer is asked: may who brings this key watch this? */
export interface AccessQuestion {
  readonly projectId: string;
  readonly playbackId: string;
  readonly webhookId: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly accessKey: string;
}

export interface WebhookAnswer {
  /** `unanswered`: no answer in time, none at all, or a failure of the receiver's own. */
  readonly verdict: "allowed" | "refused" | "unanswered";
  /** A sentence for the receiver's owner. */
  readonly why: string;
  /** Where there was an answer. */
  readonly statusCode?: number;
}

/** How a webhook's last call went, for its status: null for one that was answered. */
export interface AccessCallFailure {
  readonly timestamp: number;
  readonly statusCode?: number;
  readonly error: string;
}

interface Standing {
  readonly isAllowed: boolean;
  /** By the monotonic clock: when it is asked again. */
  readonly until: number;
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
const CALLS_AT_ONCE = 100;
const WAITING_CALLS = 5_000;
/** How soon a receiver that did not answer at a refresh is asked again. */
const AGAIN_MS = 10_000;
const STANDINGS = 100_000;
/** Request Timeout, Too Early, Too Many Requests: no opinion about a viewer, as little as a 5xx. */
const NOT_NOW = new Set([408, 425, 429]);
const WEBHOOK_MS = 2_000;
const WEBHOOKS = 1_000;
/** How often a webhook's status is written, its successes and its failures each. */
const STATUS_MS = 10_000;

/**
 * Asks customers' access webhooks (interface.md 4.5). The status alone decides; the answer's body is never read. Only who waits at the
 * same moment for the same question shares a call. What an answer says of viewers who watch already stands until the refresh interval
 * is over, for all who came with the same key.
 */
export class AccessWebhooks {
  readonly #deps: AccessWebhooksDeps;
  readonly #lanes = new CallLanes({ atOnce: CALLS_AT_ONCE, mostWaiting: WAITING_CALLS });
  readonly #asking = new Map<string, Promise<WebhookAnswer>>();
  readonly #standings = new Map<string, Standing>();
  readonly #webhooks: DecisionCache<AccessWebhook | undefined>;
  readonly #notes: SparseNotes;
  #calls = 0;

  constructor(deps: AccessWebhooksDeps) {
    this.#deps = deps;
    this.#notes = new SparseNotes(deps.clock, STATUS_MS);
    this.#webhooks = new DecisionCache(deps.clock, WEBHOOK_MS, WEBHOOKS);
  }

  /** How many calls have been made. */
  get calls(): number {
    return this.#calls;
  }

  /** For somebody new. */
  async ask(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<WebhookAnswer> {
    const key = keyOf(question);
    const answer = await this.#share(key, question, viewer);
    // A newcomer who is refused, as one device too many may be, says nothing of those who watch.
    if (answer.verdict === "allowed") this.#stand(key, true, refreshMs);
    return answer;
  }

  /** For somebody who watches: for how many milliseconds that may go on; 0 for not at all. Who does not answer now stops nobody. */
  async recheck(question: AccessQuestion, viewer: ViewerDetails, refreshMs: number): Promise<number> {
    const key = keyOf(question);
    const standing = this.#standings.get(key);
    const leftMs = standing ? standing.until - this.#deps.clock.monotonic() : 0;
    if (standing && leftMs > 0) return standing.isAllowed ? leftMs : 0;
    const { verdict } = await this.#share(`again ${key}`, question, viewer);
    const isAllowed = verdict !== "refused";
    const forMs = verdict === "unanswered" ? Math.min(AGAIN_MS, refreshMs) : refreshMs;
    this.#stand(key, isAllowed, forMs);
    return isAllowed ? forMs : 0;
  }

  /** Webhooks may have been changed. */
  forget(): void {
    this.#webhooks.clear();
  }

  #share(key: string, question: AccessQuestion, viewer: ViewerDetails): Promise<WebhookAnswer> {
    const asked = this.#asking.get(key);
    if (asked) return asked;
    const deadline = this.#deps.clock.monotonic() + CALL_MS;
    const answer = this.#lanes
      .run(question.webhookId, () => this.#call(question, viewer, deadline))
      .then((given) => given ?? unanswered("too many calls to the webhook are waiting already"))
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, answer);
    return answer;
  }

  async #call(question: AccessQuestion, viewer: ViewerDetails, deadline: number): Promise<WebhookAnswer> {
    const { clock, outbound } = this.#deps;
    const webhook = await this.#find(question);
    if (!webhook)
      return { verdict: "refused", why: "the policy's webhook is gone, or is not for playback.accessControl" };
    const timeoutMs = deadline - clock.monotonic();
    if (timeoutMs <= 0) return unanswered("the webhook is too slow for the viewers that come");
    const timestamp = clock.now();
    const body = bodyOf(question, viewer, timestamp);
    const signature = webhook.sharedSecret ? signBody(webhook.sharedSecret, body, timestamp) : {};
    this.#calls += 1;
    const headers = { "content-type": "application/json", "user-agent": "weir", ...signature };
    const answer = judge(await outbound.post({ url: webhook.url, body, headers, timeoutMs, maxResponseBytes: 0 }));
    this.#note(webhook.id, timestamp, answer);
    return answer;
  }

  /** Nobody waits for it. That somebody is refused is no failure. */
  #note(webhookId: string, timestamp: number, { verdict, why: error, statusCode }: WebhookAnswer): void {
    const hasFailed = verdict === "unanswered";
    if (!this.#notes.isDue(`${webhookId} ${hasFailed}`)) return;
    const failure = hasFailed ? { timestamp, error, ...(statusCode === undefined ? {} : { statusCode }) } : null;
    this.#deps.noteAccessCall(webhookId, timestamp, failure).catch((cause: unknown) => {
      this.#deps.log.warn({ err: cause, webhookId }, "how a call to an access webhook went could not be noted");
    });
  }

  #find({ projectId, webhookId }: AccessQuestion): Promise<AccessWebhook | undefined> {
    return this.#webhooks.get(`${projectId} ${webhookId}`, () => this.#deps.findAccessWebhook(projectId, webhookId));
  }

  #stand(key: string, isAllowed: boolean, forMs: number): void {
    this.#standings.delete(key);
    for (const oldest of this.#standings.keys()) {
      if (this.#standings.size < STANDINGS) break;
      this.#standings.delete(oldest);
    }
    this.#standings.set(key, { isAllowed, until: this.#deps.clock.monotonic() + forMs });
  }
}

/** Another webhook or context is another question. A hash, for it is kept by the thousand, and a context may be long. */
const keyOf = ({ playbackId, webhookId, accessKey, context }: AccessQuestion): string =>
  hash("sha256", JSON.stringify([playbackId, webhookId, accessKey, context]), "base64url");

/** The three fields of interface.md 4.5 first; what public receivers look for comes after (public-interface 6). */
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
  if (!answer.ok) return unanswered(`the webhook could not be asked: ${answer.message}`);
  const { status } = answer;
  if (status >= 200 && status < 300) return { verdict: "allowed", why: `the webhook answered ${status}` };
  const why = `the webhook answered ${status}, and only a 2xx lets a viewer in`;
  const isOpinion = status < 500 && !NOT_NOW.has(status);
  return { verdict: isOpinion ? "refused" : "unanswered", why, statusCode: status };
}

const unanswered = (why: string): WebhookAnswer => ({ verdict: "unanswered", why });
