import { parseJson } from "../../platform/http/json-body.ts";

/** The unverified content of a playback token. Times in milliseconds since the Unix epoch. */
export interface AccessToken {
  readonly text: string;
  readonly playbackId: string;
  /** The key as stored in the signing key's record. */
  readonly publicKey: string;
  readonly expiresAt: number;
  /** The later of `nbf` and `iat`; 0 without either. */
  readonly startsAt: number;
}

/** An expected refusal: `why` is a sentence for the developer who made the token, and reveals nothing secret. */
export type ParsedToken = { readonly ok: true; readonly token: AccessToken } | Refused;
export interface Refused {
  readonly ok: false;
  readonly why: string;
}

const MAX_TOKEN = 8_192;
/** An ECDSA P-256 signature in JWS form: r and s concatenated (RFC 7518 3.4). */
const SIGNATURE_BYTES = 64;
const HEADERS = new Set(["alg", "typ", "kid"]);

class Unacceptable extends Error {}

/**
 * Parses a signed token (RFC 7515 compact, RFC 7519 claims) strictly before any cryptography: one spelling for each part, no duplicate key, and
 * no header that could select an algorithm or supply a key.
 */
export function parseAccessToken(text: string): ParsedToken {
  try {
    return { ok: true, token: parse(text) };
  } catch (error) {
    if (error instanceof Unacceptable) return { ok: false, why: error.message };
    throw error;
  }
}

function parse(text: string): AccessToken {
  if (text.length > MAX_TOKEN) throw new Unacceptable(`the token is longer than ${MAX_TOKEN} characters`);
  const parts = text.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3) throw new Unacceptable("the token does not have three parts with dots between them");
  checkHeader(objectOf(header, "header"));
  if (bytesOf(signature, "signature").length !== SIGNATURE_BYTES) {
    throw new Unacceptable("the token's signature does not have the 64 bytes of ES256");
  }
  return { text, ...readClaims(objectOf(claims, "claims")) };
}

/** The key determines the algorithm, whatever the token says. A token with another algorithm was not made for this server. */
function checkHeader(header: Readonly<Record<string, unknown>>): void {
  const { alg, typ = "JWT", kid = "" } = header;
  if (alg !== "ES256") throw new Unacceptable("the token's header must have alg ES256");
  if (typeof typ !== "string" || typ.toUpperCase() !== "JWT") throw new Unacceptable("the token's typ must be JWT");
  if (typeof kid !== "string") throw new Unacceptable("the token's kid must be a text");
  if (!Object.keys(header).every((name) => HEADERS.has(name))) {
    throw new Unacceptable("the token's header may have alg, typ and kid, and nothing else");
  }
}

function readClaims(claims: Readonly<Record<string, unknown>>): Omit<AccessToken, "text"> {
  const { sub, pub, exp, nbf = 0, iat = 0 } = claims;
  if (typeof sub !== "string") throw new Unacceptable("the token has no sub, which must be the playback id");
  if (typeof pub !== "string")
    throw new Unacceptable("the token has no pub, which must be the signing key's public key");
  if (exp === undefined) throw new Unacceptable("the token has no exp, which says when it ends");
  return {
    playbackId: sub,
    publicKey: pub,
    expiresAt: millisecondsOf(exp, "exp"),
    startsAt: Math.max(millisecondsOf(nbf, "nbf"), millisecondsOf(iat, "iat")),
  };
}

/** RFC 7519 NumericDate. */
function millisecondsOf(seconds: unknown, claim: string): number {
  if (typeof seconds !== "number") throw new Unacceptable(`the token's ${claim} must be a number of seconds`);
  return seconds * 1_000;
}

function objectOf(part: string, what: string): Readonly<Record<string, unknown>> {
  const bytes = bytesOf(part, what);
  let value: unknown;
  try {
    value = parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new Unacceptable(`the token's ${what} is not JSON, or has a name twice`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Unacceptable(`the token's ${what} is not a JSON object`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** Base64url has several spellings of the same bytes; only the one without padding and stray bits is accepted (RFC 7515 2). */
function bytesOf(part: string, what: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part) {
    throw new Unacceptable(`the token's ${what} is not base64url without padding`);
  }
  return bytes;
}
