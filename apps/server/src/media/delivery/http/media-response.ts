import type { IncomingMessage, ServerResponse } from "node:http";
import { errorBody } from "../../../platform/http/error-body.ts";
import { onceClosed } from "../../../platform/http/once-closed.ts";
import { REQUEST_ID_HEADER, requestIdOf } from "../../../platform/http/request-id.ts";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import { parseRange } from "./byte-range.ts";

/**
 * How long caches may keep a response. Segments never change; errors are short-lived. A blocking playlist request has the awaited part in its URL,
 * so an edge may serve the response to all viewers who wait for the same part, within a few seconds; a player that reloads asks for a newer one.
 */
export interface Caching {
  readonly immutable: string;
  readonly blocked: string;
  readonly fresh: string;
  readonly multivariant: string;
  /** The newest thumbnail of a live stream, which is renewed every few seconds. */
  readonly still: string;
  readonly error: string;
}

/** For everyone who has the URL. */
export const SHARED: Caching = {
  immutable: "public, max-age=31536000, immutable",
  blocked: "public, max-age=0, s-maxage=4",
  fresh: "public, max-age=0, must-revalidate",
  multivariant: "public, max-age=0, must-revalidate",
  still: "public, max-age=5",
  error: "public, max-age=1",
};

/** For the requester only, because of credentials outside the URL. */
export const PERSONAL: Caching = {
  immutable: "private, max-age=31536000, immutable",
  blocked: "private, max-age=0",
  fresh: "private, max-age=0, must-revalidate",
  multivariant: "private, no-store",
  still: "private, max-age=5",
  error: "private, no-store",
};

/** The URL of a player's page or of a file may contain credentials, which must not be sent as a referrer. */
const REFERRER_POLICY = "no-referrer";

const EXPOSED = "Content-Length, Content-Range, Location, Link, Playhead-UTC, X-Request-Id";

/**
 * Sends ASCII text that contains no URLs to other hosts. Node joins it with the head into one write, which makes it the cheapest kind of response.
 */
export function sendAscii(res: ServerResponse, status: number, type: string, cache: string, text: string): void {
  res.writeHead(status, headOf(type, cache, text.length));
  res.end(text, "latin1");
}

export function sendText(
  res: ServerResponse,
  status: number,
  type: string,
  text: string,
  cache: string = SHARED.error,
): void {
  const identity = status >= 400 ? [REQUEST_ID_HEADER, requestIdOf(res.req)] : [];
  res.writeHead(status, [...headOf(type, cache, text.length), "referrer-policy", REFERRER_POLICY, ...identity]);
  res.end(text, "latin1");
}

/**
 * The body of an error, in the form of the API. Without the request id, which is in the header alone: an unknown id and a denied one get the same
 * bytes.
 */
export const errorText = (code: string, message: string): string => JSON.stringify(errorBody({ code, message }));

/** What every answer with a body begins with. */
function headOf(type: string, cache: string, bytes: number): string[] {
  return [
    "content-type",
    type,
    "content-length",
    String(bytes),
    "cache-control",
    cache,
    "access-control-allow-origin",
    "*",
  ];
}

export function sendBytes(res: ServerResponse, type: string, cache: string, bytes: Uint8Array): void {
  res.writeHead(200, [...headOf(type, cache, bytes.byteLength), "referrer-policy", REFERRER_POLICY]);
  res.end(bytes);
}

/** Redirects to the canonical URL. Not cached, since the query may contain a credential. */
export function sendRedirect(res: ServerResponse, location: string): void {
  const head = ["location", location, "content-length", "0", "cache-control", PERSONAL.error];
  res.writeHead(307, [...head, "access-control-allow-origin", "*", "referrer-policy", REFERRER_POLICY]);
  res.end();
}

const TOO_MANY = errorText("too-many-requests", "too many denied requests from this address: try again in a second");
const NOT_NOW = errorText("unavailable", "the content cannot be read right now: try again");
const NOT_FOUND = errorText("not-found", "not found");
const NOT_ALLOWED = errorText("method-not-allowed", "method not allowed: media is read by GET and HEAD");

export function sendTooMany(res: ServerResponse): void {
  res.setHeader("retry-after", "1");
  sendText(res, 429, "application/json", TOO_MANY, PERSONAL.error);
}

/** All slots of this kind are taken. Not cached, because other clients may have free ones. */
export function sendBusy(res: ServerResponse, what: string): void {
  res.setHeader("retry-after", "1");
  sendText(res, 503, "application/json", errorText("too-busy", `${what}: try again in a second`), PERSONAL.error);
}

/** The server cannot answer now. Ends an answer that has begun. */
export function sendUnavailable(res: ServerResponse): void {
  if (res.headersSent) return void res.destroy();
  res.setHeader("retry-after", "2");
  sendText(res, 503, "application/json", NOT_NOW, PERSONAL.error);
}

export function sendNotFound(res: ServerResponse): void {
  // Private: even the absence of gated content must not be cached for others.
  sendText(res, 404, "application/json", NOT_FOUND, PERSONAL.error);
}

/** False for requests other than GET and HEAD, which it answers: a preflight with the allowed methods, others with 405. */
export function isRead(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.method === "GET" || req.method === "HEAD") return true;
  if (req.method === "OPTIONS") sendPreflight(res);
  else {
    res.setHeader("allow", "GET, HEAD, OPTIONS");
    sendText(res, 405, "application/json", NOT_ALLOWED);
  }
  return false;
}

function sendPreflight(res: ServerResponse): void {
  res.writeHead(204, {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, OPTIONS",
    "access-control-allow-headers":
      "Authorization, Content-Type, Range, Service-Jwt, Service-Access-Key, Livepeer-Jwt, Livepeer-Access-Key",
    "access-control-expose-headers": EXPOSED,
    "access-control-max-age": "86400",
  });
  res.end();
}

/** An empty box (ISO/IEC 14496-12 8.1.2), sent for a gap to players that do not support EXT-X-GAP: VLC never continues after a 404. */
export const EMPTY_SEGMENT = Buffer.from("\0\0\0\x08free");

/** Sends several buffers as one body, or the requested range of it, in one write to the socket. Returns the number of bytes. */
export function sendBuffers(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  buffers: readonly Uint8Array[],
  size = sizeOf(buffers),
): number {
  const range = startBytes(req, res, type, cache, size);
  if (!range) return 0;
  let at = 0;
  for (const buffer of buffers) {
    const from = Math.max(0, range.start - at);
    const to = Math.min(buffer.byteLength, range.end + 1 - at);
    at += buffer.byteLength;
    if (from >= to) continue;
    const bytes = from === 0 && to === buffer.byteLength ? buffer : buffer.subarray(from, to);
    // The first write corks the socket, and `end` flushes it.
    if (at <= range.end) res.write(bytes);
    else res.end(bytes);
  }
  return range.end - range.start + 1;
}

function sizeOf(buffers: readonly Uint8Array[]): number {
  let size = 0;
  for (const buffer of buffers) size += buffer.byteLength;
  return size;
}

/** The bytes of a stored object, to be read on demand. */
export interface StoredBytes {
  readonly type: string;
  readonly size: number;
  /** For a file that is to be saved. */
  readonly disposition?: string;
  /** A strong ETag: the same value always means the same bytes. */
  readonly etag: string;
  /** Called with the range to send. */
  readonly read: (range: ByteRange) => AsyncIterable<Uint8Array>;
}

/** Sends stored bytes or the requested range of them. They are read at the client's pace, and only while it is connected. */
export async function sendStored(
  req: IncomingMessage,
  res: ServerResponse,
  cache: string,
  { type, size, disposition, etag, read }: StoredBytes,
): Promise<void> {
  if (isKnown(req, etag)) return sendUnchanged(res, cache, etag);
  if (disposition !== undefined) res.setHeader("content-disposition", disposition);
  const range = startBytes(req, res, type, cache, size, etag);
  if (!range) return;
  // A store that delivers no more bytes must not hold the slot of a client that has left.
  const copied = copy(read(range), range.end - range.start + 1, res);
  await Promise.race([copied, new Promise<void>((resolve) => onceClosed(res, resolve))]);
}

/**
 * Throws if the source delivers more or fewer bytes than announced: the client would otherwise mistake the next response for the rest of this one.
 */
async function copy(source: AsyncIterable<Uint8Array>, length: number, res: ServerResponse): Promise<void> {
  let left = length;
  for await (const bytes of source) {
    left -= bytes.byteLength;
    if (left < 0) throw new Error(`the store sent more than the ${length} bytes requested`);
    if (!res.write(bytes)) await drained(res);
    if (res.destroyed) return;
  }
  if (left > 0) throw new Error(`the store sent ${length - left} of ${length} bytes: the object is damaged`);
  res.end();
}

/** Resolves when the client has read what was written, or has left. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (res.destroyed) return resolve();
    const done = (): void => {
      res.off("drain", done).off("close", done);
      resolve();
    };
    res.on("drain", done).on("close", done);
  });
}

/** Sends a shared text in the content coding that the client accepts. */
export function sendCoded(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  { bytes, etag, coding }: { readonly bytes: Uint8Array; readonly etag: string; readonly coding: string | null },
): void {
  if (isKnown(req, etag)) return sendUnchanged(res, cache, etag, ["vary", "accept-encoding"]);
  const head = headOf(type, cache, bytes.byteLength);
  head.push("etag", etag, "referrer-policy", REFERRER_POLICY, "vary", "accept-encoding");
  if (coding) head.push("content-encoding", coding);
  res.writeHead(200, head);
  res.end(bytes);
}

/** Whether the client already has it (RFC 9110 13.1.2). */
function isKnown({ headers }: IncomingMessage, etag: string): boolean {
  const given = headers["if-none-match"]?.split(",") ?? [];
  return given.some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}

function sendUnchanged(res: ServerResponse, cache: string, etag: string, more: readonly string[] = []): void {
  res.writeHead(304, ["etag", etag, "cache-control", cache, "access-control-allow-origin", "*", ...more]);
  res.end();
}

/** Writes the head for `size` bytes. Null if no body follows: for HEAD, or an unsatisfiable range. */
function startBytes(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  size: number,
  etag?: string,
): ByteRange | null {
  // A range of an earlier version must not be served from this one (RFC 9110 13.1.5). Without an ETag the URL's content never changes.
  const isOfAnother = etag !== undefined && (req.headers["if-range"] ?? etag) !== etag;
  const range = isOfAnother ? null : parseRange(req.headers.range, size);
  if (range === "unsatisfiable") {
    const head = ["content-range", `bytes */${size}`, "cache-control", PERSONAL.error];
    res.writeHead(416, [...head, "access-control-allow-origin", "*"]).end();
    return null;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  // One literal: this answers every segment and part.
  const head = [
    "content-type",
    type,
    "content-length",
    String(end - start + 1),
    "cache-control",
    cache,
    "access-control-allow-origin",
    "*",
    "accept-ranges",
    "bytes",
    "referrer-policy",
    REFERRER_POLICY,
  ];
  // The bytes came from customers.
  if (etag !== undefined) head.push("etag", etag, "x-content-type-options", "nosniff");
  if (range) head.push("content-range", `bytes ${start}-${end}/${size}`, "access-control-expose-headers", EXPOSED);
  res.writeHead(range ? 206 : 200, head);
  if (req.method !== "HEAD" && size > 0) return { start, end };
  res.end();
  return null;
}
