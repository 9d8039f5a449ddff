import { DASHBOARD_REQUEST_HEADER } from "@weir/contract";
import type { FastifyRequest } from "fastify";
import { Forbidden, type Principal, TooManyRequests, Unauthenticated, UnknownKey } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { findDashboardSession, findKey } from "./account-store.ts";
import type { KeyGuesses } from "./key-guesses.ts";

export interface AuthenticateDeps extends Deps {
  readonly keyGuesses: KeyGuesses;
}

export const DASHBOARD_COOKIE = "weir_session";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);
const MAX_HEADER = 1000;

/**
 * Identifies the caller by an API key in `Authorization` (`Bearer key`, `Basic base64(userId:key)`, or the bare key), or else by the dashboard's
 * cookie. A state-changing request by cookie needs the dashboard's header, which no other site can send. Throws `Unauthenticated`, `Forbidden`,
 * or `TooManyRequests` for an address that sent too many wrong credentials.
 */
export async function authenticate(
  { db, clock, keyGuesses }: AuthenticateDeps,
  request: FastifyRequest,
): Promise<Principal> {
  const { authorization } = request.headers;
  const key = authorization ? keyOf(authorization) : undefined;
  const secret = key ?? request.cookies[DASHBOARD_COOKIE];
  if (secret === undefined) throw new Unauthenticated();
  if (key === undefined && !SAFE_METHODS.has(request.method) && request.headers[DASHBOARD_REQUEST_HEADER] !== "1")
    throw new Forbidden(`a request by cookie that changes something needs the header ${DASHBOARD_REQUEST_HEADER}: 1`);
  const find = key === undefined ? findDashboardSession : findKey;
  const principal = await keyGuesses.look(request.ip, secret, () => find(db, secret, clock.now()));
  if (principal === "too-many")
    throw new TooManyRequests("too many wrong keys from this address: try again in a second");
  if (principal === "denied") throw key === undefined ? new Unauthenticated() : new UnknownKey();
  if (principal.suspended) throw new Forbidden("the account is suspended");
  return principal;
}

function keyOf(header: string): string {
  const [first = "", second, ...rest] = header.slice(0, MAX_HEADER).trim().split(/ +/);
  if (second === undefined) return first;
  const scheme = first.toLowerCase();
  if (rest.length > 0 || (scheme !== "bearer" && scheme !== "basic")) {
    throw new Unauthenticated("unsupported authorization header scheme: send Authorization: Bearer and an API key");
  }
  if (scheme === "bearer") return second;
  const decoded = Buffer.from(second, "base64").toString();
  return decoded.slice(decoded.indexOf(":") + 1);
}
