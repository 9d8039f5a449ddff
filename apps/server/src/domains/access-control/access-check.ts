import type { PlaybackPolicy } from "@weir/contract";
import type { Clock } from "../../platform/clock.ts";
import type { PlaybackRequest, ViewerDetails, ViewerPass } from "../../ports/index.ts";
import type { Refused } from "./access-token.ts";
import { type AccessQuestion, AccessWebhooks, type AccessWebhooksDeps } from "./access-webhook.ts";
import { isOriginAllowed } from "./allowed-origin.ts";
import type { OwnerTokens } from "./owner-token.ts";
import { checkToken, type KeyState } from "./token-check.ts";
import { TokenVerifier } from "./token-verifier.ts";

/** A piece of playable content with its access policy. */
export interface GuardedContent {
  readonly playbackId: string;
  readonly projectId: string;
  readonly policy: PlaybackPolicy | null;
  /** The signing keys of the project; empty if the policy requires no tokens. */
  readonly signingKeys: readonly KeyState[];
}

export type Verdict =
  | {
      readonly ok: true;
      readonly pass: ViewerPass | null;
      /** The longest time that the decision is valid. */
      readonly expiresInMs: number;
      /** A sentence for the content's owner. */
      readonly why: string;
    }
  | Refusal;

/** `unconfirmed`: the webhook that admitted the viewer does not say whether they may continue. */
export interface Refusal extends Refused {
  readonly reason: "denied" | "unconfirmed";
}

const MAX_ACCESS_KEY_BYTES = 8_192;
/** Together with the second for which the gate caches rows, a change without a notification takes effect within 5 s. */
const VALID_MS = 4_000;
const SHORTEST_STAND_MS = 1_000;
const REFRESH_SECONDS = 600;

export interface AccessCheckDeps extends AccessWebhooksDeps {
  readonly ownerTokens: OwnerTokens;
}

/** The one place that decides by a content's policy. Caches verified credentials, so that each costs the verification only once. */
export class AccessCheck {
  readonly tokens = new TokenVerifier();
  readonly webhooks: AccessWebhooks;
  readonly #owners: OwnerTokens;
  readonly #clock: Clock;

  constructor(deps: AccessCheckDeps) {
    this.#owners = deps.ownerTokens;
    this.#clock = deps.clock;
    this.webhooks = new AccessWebhooks(deps);
  }

  /** A new viewer, with the credentials of the request. */
  async open(content: GuardedContent, request: Omit<PlaybackRequest, "playbackId">): Promise<Verdict> {
    const { policy } = content;
    const asOwner = await this.#openAsOwner(content, request.tokens);
    if (asOwner) return asOwner;
    if (!isOriginAllowed(policy?.allowedOrigins, request.viewer)) return NOT_FROM_THERE;
    if (policy?.type === "jwt") return this.#openByToken(content, request.tokens);
    if (policy?.type === "webhook") return this.#openByWebhook(content, policy, request);
    return { ok: true, pass: null, expiresInMs: VALID_MS, why: "the content is public" };
  }

  /** A viewer admitted on this pass. Content that has become public stays open to them. */
  async recheck(content: GuardedContent, pass: ViewerPass, viewer: ViewerDetails): Promise<Verdict> {
    const { policy, signingKeys } = content;
    if (pass.kind === "owner") return this.#untilExpiry(pass, IS_OWNER);
    if (!isOriginAllowed(policy?.allowedOrigins, viewer)) return NOT_FROM_THERE;
    if (policy === null || policy.type === "public") return letIn(pass, VALID_MS, "the content is public");
    if (policy.type !== pass.kind) return refused("the policy is of another kind now");
    if (pass.kind === "jwt") {
      const isStanding = signingKeys.some(({ id, disabled }) => id === pass.signingKeyId && !disabled);
      return isStanding ? this.#untilExpiry(pass, IS_SIGNED) : refused("the signing key is disabled or deleted");
    }
    const question = questionOf(content, policy, pass.accessKey);
    const answer = await this.webhooks.recheck(question, viewer, refreshMsOf(policy));
    if (answer.verdict === "allowed") return letIn(pass, Math.min(VALID_MS, answer.forMs), "the webhook let it in");
    return answer.verdict === "refused" ? refused("the webhook refuses") : UNCONFIRMED;
  }

  async #openByToken(content: GuardedContent, tokens: readonly string[]): Promise<Verdict> {
    const [token] = tokens;
    if (token === undefined) return refused("the content needs a signed token, and none was given");
    if (tokens.length > 1) return TWO_TOKENS;
    const grant = await checkToken(this.tokens, token, content, this.#clock.now());
    if (!grant.ok) return refused(grant.why);
    const { signingKeyId, expiresAt } = grant;
    return this.#untilExpiry({ kind: "jwt", signingKeyId, expiresAt }, IS_SIGNED);
  }

  /** The owner previews their own content, on any page and under any policy. Null for a request without an owner token. */
  async #openAsOwner(content: GuardedContent, tokens: readonly string[]): Promise<Verdict | null> {
    const [token = "", ...others] = tokens;
    const grant = await this.#owners.check(token, content, this.#clock.now());
    if (grant === null) return null;
    if (others.length > 0) return TWO_TOKENS;
    return grant.ok ? this.#untilExpiry({ kind: "owner", expiresAt: grant.expiresAt }, IS_OWNER) : refused(grant.why);
  }

  #untilExpiry(pass: Extract<ViewerPass, { expiresAt: number }>, why: string): Verdict {
    const leftMs = pass.expiresAt - this.#clock.now();
    if (leftMs <= 0) return refused("the token has expired");
    return letIn(pass, Math.min(VALID_MS, leftMs), why);
  }

  async #openByWebhook(
    content: GuardedContent,
    policy: PlaybackPolicy,
    { accessKeys, viewer }: Omit<PlaybackRequest, "playbackId">,
  ): Promise<Verdict> {
    // An empty value counts as absent.
    const given = accessKeys.filter((key) => key !== "");
    const [accessKey] = given;
    if (accessKey === undefined) return refused("the content needs an access key, and none was given");
    if (given.length > 1) return refused("two access keys were given, and they differ");
    if (Buffer.byteLength(accessKey) > MAX_ACCESS_KEY_BYTES) {
      return refused(`the access key is longer than ${MAX_ACCESS_KEY_BYTES} bytes`);
    }
    const refreshMs = refreshMsOf(policy);
    const { verdict, why } = await this.webhooks.ask(questionOf(content, policy, accessKey), viewer, refreshMs);
    if (verdict !== "allowed") return refused(why);
    return letIn({ kind: "webhook", accessKey }, Math.min(VALID_MS, refreshMs), why);
  }
}

const IS_SIGNED = "the token is valid";
const IS_OWNER = "the owner watches";
const TWO_TOKENS = refused("two tokens were given, and they differ");
const NOT_FROM_THERE = refused("the web page's origin is not among the policy's allowedOrigins");

const UNCONFIRMED: Refusal = { ok: false, reason: "unconfirmed", why: "the webhook does not respond" };

function refused(why: string): Refusal {
  return { ok: false, reason: "denied", why };
}

function letIn(pass: ViewerPass, expiresInMs: number, why: string): Verdict {
  return { ok: true, pass, expiresInMs, why };
}

const refreshMsOf = ({ refreshInterval = REFRESH_SECONDS }: PlaybackPolicy): number =>
  Math.max(SHORTEST_STAND_MS, refreshInterval * 1_000);

const questionOf = (
  { projectId, playbackId }: GuardedContent,
  { webhookId = "", webhookContext = {} }: PlaybackPolicy,
  accessKey: string,
): AccessQuestion => ({ projectId, playbackId, webhookId, context: webhookContext, accessKey });
