import type { IncomingMessage } from "node:http";
import type { PlaybackCredentials } from "../front/access-request.ts";

const NO_CREDENTIALS: PlaybackCredentials = { tokens: [], accessKeys: [] };

const TOKEN_HEADERS = ["service-jwt", "livepeer-jwt"] as const;
const KEY_HEADERS = ["service-access-key", "livepeer-access-key"] as const;
const NOT_ASCII = /[\x80-\xff]/;
/** U+FFFD results from percent-encoding that is not valid UTF-8. */
const UNPRINTABLE = /[\p{Cc}\uFFFD]/u;

/** Reads the credentials of a request. `invalid` if a value has control characters or is not UTF-8, since it could not be passed on exactly. */
export function readCredentials(req: IncomingMessage, url: string): PlaybackCredentials | "invalid" {
  const at = url.indexOf("?");
  const query = at < 0 ? null : new URLSearchParams(url.slice(at + 1));
  const tokens = distinct(req, TOKEN_HEADERS, query?.getAll("jwt"));
  const accessKeys = distinct(req, KEY_HEADERS, query?.getAll("accessKey"));
  if (tokens.length === 0 && accessKeys.length === 0) return NO_CREDENTIALS;
  if (tokens.some(isInvalid) || accessKeys.some(isInvalid)) return "invalid";
  return { tokens: tokens.slice(0, 2), accessKeys: accessKeys.slice(0, 2) };
}

const isInvalid = (value: string): boolean => UNPRINTABLE.test(value);

function distinct(req: IncomingMessage, names: readonly string[], fromQuery: readonly string[] = []): string[] {
  const values = new Set(fromQuery);
  for (const name of names) {
    if (req.headers[name] === undefined) continue;
    // headersDistinct, because Node joins repeated headers with a comma elsewhere.
    for (const value of req.headersDistinct[name] ?? []) values.add(textOf(value));
  }
  values.delete("");
  return [...values];
}

/** Node decodes header values as Latin-1; clients that send other characters mean UTF-8. */
function textOf(value: string): string {
  return NOT_ASCII.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value;
}
