import type { Route } from "@weir/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { askedOrigin } from "../../platform/http/asked-origin.ts";
import { exposeTo, isSameOrigin } from "../../platform/http/cors.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import {
  BadRequest,
  Forbidden,
  markOrigin,
  markPrincipal,
  NotFound,
  type Principal,
  TooManyRequests,
} from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { PublicAddress } from "../public-address.ts";
import type { DomainConfig } from "../settings.ts";
import { allowsOrigin, isUnrestricted, type Operation, partsOf, refusalOf } from "./access.ts";
import { type AuthenticateDeps, authenticate } from "./authenticate.ts";
import { findProject } from "./project-store.ts";

export interface RequestGuardDeps extends AuthenticateDeps, Pick<DomainConfig, "rateLimit"> {
  publicUrl(): string;
  readonly publicAddress: PublicAddress;
}

/** The access that a route declares. A route that declares none requires a key, so a forgotten declaration fails closed. */
interface GuardedConfig {
  readonly route?: Route;
  readonly auth?: Route["auth"];
}

const NO_PRIVILEGE = "credential has insufficent privileges";
const PROJECT_ONLY =
  "this API key signs in to its own project alone: sign in as a person, or with the API key of the first start";
const SHOWN_ORIGIN = 300;
/** Limit per client for routes without a key: a thousand viewers behind one address may open a page at the same moment. */
const MAX_OPEN_REQUESTS = 2_000;
const OPEN_WINDOW_MS = 10_000;

/** Routes that manage other keys or the server require full access. Throws `Forbidden`. */
export function requireUnrestricted(principal: Principal): void {
  if (!isUnrestricted(principal.access)) throw new Forbidden(NO_PRIVILEGE);
}

/** For routes that reach beyond one project. Throws `Forbidden`. */
export function requireAccount({ reach }: Principal): void {
  if (reach === "project") throw new Forbidden(PROJECT_ONLY);
}

/**
 * Guards the routes of `app`: the caller's identity, request rate, page origin, and the rules of the key. A refused request gets 401, 429 or
 * 403, in this order. The stores decide whether the requested object belongs to the caller.
 */
export function guardRequests(app: FastifyInstance, deps: RequestGuardDeps): void {
  const limit = new RateLimit({ clock: deps.clock, quota: deps.rateLimit, windowMs: 1_000 });
  const openLimit = new RateLimit({ clock: deps.clock, quota: MAX_OPEN_REQUESTS, windowMs: OPEN_WINDOW_MS });
  app.addHook("onRequest", async (request, reply) => {
    const config = request.routeOptions.config as GuardedConfig;
    const auth = config.auth ?? config.route?.auth ?? "key";
    const asked = askedOrigin(request);
    markOrigin(request, deps.publicAddress.answering(asked));
    if (auth === "none") return countOpenRequest(openLimit, request, reply);
    const principal = await authenticate(deps, request);
    if (limit.quota > 0) countRequest(limit, principal, reply);
    checkOrigin(principal, request, reply, {
      publicUrl: deps.publicUrl(),
      isAnyAllowed: config.route?.anyOrigin === true,
    });
    checkAccess(principal, request, { ...config.route, auth });
    if (asked !== null && decidesForServer(principal)) await deps.publicAddress.used(asked);
    markPrincipal(request, await inProject(deps, principal, request));
  });
}

/** A key proves less than a sign-in: programs reach the server by names that work for nobody else, and customers have keys too. */
const decidesForServer = ({ cookieExpiresAt, reach, access }: Principal): boolean =>
  cookieExpiresAt !== null && reach === "account" && isUnrestricted(access);

/** Refused before any lookup, whatever the request is for. */
function countOpenRequest(limit: RateLimit, { ip }: FastifyRequest, reply: FastifyReply): void {
  const allowance = limit.take(clientOf(ip));
  if (allowance.isAllowed) return;
  reply.header("retry-after", String(allowance.resetSeconds));
  throw new TooManyRequests(
    `more than ${limit.quota} requests in ${OPEN_WINDOW_MS / 1000} s from this address: slow down`,
  );
}

function countRequest(limit: RateLimit, { keyId }: Principal, reply: FastifyReply): void {
  const allowance = limit.take(keyId);
  reply.headers(limit.headers(allowance));
  if (!allowance.isAllowed)
    throw new TooManyRequests(`more than ${limit.quota} requests a second with this API key: slow down`);
}

interface OriginRules {
  readonly publicUrl: string;
  /** Origins of this route's key: a key without a list of origins can be used from any page. */
  readonly isAnyAllowed: boolean;
}

/** A page may only use a key made for its origin. The server's own pages may use any key, and only they may use the cookie. */
function checkOrigin(
  principal: Principal,
  request: FastifyRequest,
  reply: FastifyReply,
  { publicUrl, isAnyAllowed }: OriginRules,
): void {
  const { origin } = request.headers;
  if (!origin || isSameOrigin(request, publicUrl)) return;
  const { access, cookieExpiresAt } = principal;
  const isAllowed = allowsOrigin(access, origin) || (isAnyAllowed && !access?.cors?.allowedOrigins.length);
  // The page has the key, and may read why it is refused.
  if (cookieExpiresAt === null) exposeTo(reply, origin);
  if (cookieExpiresAt !== null || !isAllowed)
    throw new Forbidden(`credential disallows CORS access from origin ${origin.slice(0, SHOWN_ORIGIN)}`);
}

function checkAccess(
  principal: Principal,
  request: FastifyRequest,
  { auth, needsAccount = false }: Pick<Route, "auth" | "needsAccount">,
): void {
  const refusal = refusalOf(principal.access, operationOf(request));
  if (refusal) throw new Forbidden(refusal);
  if (auth !== "dashboard") return;
  if (principal.cookieExpiresAt === null) throw new Forbidden("access forbidden for API keys");
  requireUnrestricted(principal);
  if (needsAccount) requireAccount(principal);
}

/** Built from the matched route, not from the URL as written: `%73tream` is `stream`. */
function operationOf({ method, params, routeOptions }: FastifyRequest): Operation {
  const values = params as Readonly<Record<string, string>>;
  const path = partsOf(routeOptions.url ?? "").map((part) =>
    part.startsWith(":") ? (values[part.slice(1)] ?? "") : part,
  );
  return { method: method.toLowerCase(), path };
}

/** `?projectId=` is for the dashboard, which can open all projects of its account. A key has one project. */
async function inProject({ db }: Deps, principal: Principal, request: FastifyRequest): Promise<Principal> {
  const { projectId } = request.query as { projectId?: unknown };
  if (projectId === undefined) return principal;
  if (principal.cookieExpiresAt === null) throw new BadRequest("projectId as query param not supported");
  const project = await findProject(db, principal, String(projectId));
  if (!project) throw new NotFound();
  return { ...principal, projectId: project.id };
}
