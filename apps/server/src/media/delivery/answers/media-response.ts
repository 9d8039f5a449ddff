import type { IncomingMessage, ServerResponse } from "node:http";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import { parseRange } from "./byte-range.ts";

export const PLAYLIST_TYPE = "application/vnd.apple.mpegurl";

/**
 * How long caches may keep an answer. Segments never change; errors are soon over. A blocked playlist holds what its address waits for, so an
 * edge may give it to all who wait for the same, which they do within a few seconds; a player that asks again wants a newer one.
 */
export interface Caching {
  readonly immutable: string;
  readonly blocked: string;
  readonly fresh: string;
  readonly multivariant: string;
  /** The newest picture of a live stream, made every few seconds. */
  readonly still: string;
  readonly error: string;
}

/** For whoever has the address. */
export const SHARED: Caching = {
  immutable: "public, max-age=31536000, immutable",
  blocked: "public, max-age=0, s-maxage=4",
  fresh: "public, max-age=0, must-revalidate",
  multivariant: "public, max-age=0, must-revalidate",
  still: "public, max-age=5",
  error: "public, max-age=1",
};

/** For who asked, because of what they brought beside the address. */
export const PERSONAL: Caching = {
  immutable: "private, max-age=31536000, immutable",
  blocked: "private, max-age=0",
  fresh: "private, max-age=0, must-revalidate",
  multivariant: "private, no-store",
  still: "private, max-age=5",
  error: "private, no-store",
};

/** Credentials may stand in the address of a player's page or of a file: nobody is told of them. */
const REFERRER_POLICY = "no-referrer";

const EXPOSED = "Content-Length, Content-Range, Location, Link, Playhead-UTC";

/**
 * Send a text of ASCII characters that leads nowhere but to its own folder. Node joins it with the head into one write, which makes this the
 * cheapest answer there is.
 */
export function sendAscii(res: ServerResponse, status: number, type: string, cache: string, text: string): void {
  res.writeHead(status, textHead(type, cache, text));
  res.end(text, "latin1");
}

export function sendText(
  res: ServerResponse,
  status: number,
  type: string,
  text: string,
  cache: string = SHARED.error,
): void {
  res.writeHead(status, [...textHead(type, cache, text), "referrer-policy", REFERRER_POLICY]);
  res.end(text, "latin1");
}

function textHead(type: string, cache: string, text: string): string[] {
  return [
    "content-type",
    type,
    "content-length",
    String(text.length),
    "cache-control",
    cache,
    "access-control-allow-origin",
    "*",
  ];
}

export function sendBytes(res: ServerResponse, type: string, cache: string, bytes: Uint8Array): void {
  const head = ["content-type", type, "content-length", String(bytes.byteLength), "cache-control", cache];
  res.writeHead(200, [...head, "access-control-allow-origin", "*", "referrer-policy", REFERRER_POLICY]);
  res.end(bytes);
}

/** To the one address of what was asked for. Not kept: the query may have a credential. */
export function sendRedirect(res: ServerResponse, location: string): void {
  const head = ["location", location, "content-length", "0", "cache-control", PERSONAL.error];
  res.writeHead(307, [...head, "access-control-allow-origin", "*", "referrer-policy", REFERRER_POLICY]);
  res.end();
}

const TOO_MANY = '{"errors":["too many denied requests from this address: try again in a second"]}';

export function sendTooMany(res: ServerResponse): void {
  res.setHeader("retry-after", "1");
  sendText(res, 429, "application/json", TOO_MANY, PERSONAL.error);
}

export function sendNotFound(res: ServerResponse): void {
  // Of gated content even that something is missing is for nobody else.
  sendText(res, 404, "application/json", '{"errors":["not found"]}', PERSONAL.error);
}

/** Answers every request that is not for reading: a preflight with what is allowed, others with a refusal. */
export function isRead(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.method === "GET" || req.method === "HEAD") return true;
  if (req.method === "OPTIONS") sendPreflight(res);
  else {
    res.setHeader("allow", "GET, HEAD, OPTIONS");
    sendText(res, 405, "application/json", '{"errors":["method not allowed"]}');
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

/** Send several buffers as one body, or the one range of it that was asked for. The socket gets them in one write. */
export function sendBuffers(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  buffers: readonly Uint8Array[],
): number {
  let size = 0;
  for (const buffer of buffers) size += buffer.byteLength;
  const range = startBytes(req, res, type, cache, size);
  if (!range) return 0;
  let at = 0;
  for (const buffer of buffers) {
    const from = Math.max(0, range.start - at);
    const to = Math.min(buffer.byteLength, range.end + 1 - at);
    at += buffer.byteLength;
    if (from >= to) continue;
    const bytes = from === 0 && to === buffer.byteLength ? buffer : buffer.subarray(from, to);
    // The first write corks the socket, the end lets everything go.
    if (at <= range.end) res.write(bytes);
    else res.end(bytes);
  }
  return range.end - range.start + 1;
}

/** Bytes of a store that have not been read yet. */
export interface StoredBytes {
  readonly type: string;
  readonly size: number;
  /** Strong: the same bytes whenever it is the same. */
  readonly etag: string;
  /** Called with the range to send. */
  readonly read: (range: ByteRange) => AsyncIterable<Uint8Array>;
}

/** Send stored bytes, or the one range of them that was asked for: read as the client takes them, and no longer than it stays. */
export async function sendStored(
  req: IncomingMessage,
  res: ServerResponse,
  cache: string,
  { type, size, etag, read }: StoredBytes,
): Promise<void> {
  if (isKnown(req, etag)) return sendUnchanged(res, cache, etag);
  const range = startBytes(req, res, type, cache, size, etag);
  if (!range) return;
  // A store that does not give the next bytes holds up nobody who has left.
  const copied = copy(read(range), range.end - range.start + 1, res);
  await Promise.race([copied, new Promise((resolve) => res.once("close", resolve))]);
}

/** Throws where the source has more or fewer bytes than the head says: the client would take the next answer for a part of this one. */
async function copy(source: AsyncIterable<Uint8Array>, length: number, res: ServerResponse): Promise<void> {
  let left = length;
  for await (const bytes of source) {
    left -= bytes.byteLength;
    if (left < 0) throw new Error(`the store gave more than the ${length} bytes it was asked for`);
    if (!res.write(bytes)) await drained(res);
    if (res.destroyed) return;
  }
  if (left > 0) throw new Error(`the store gave ${length - left} of ${length} bytes: the object is damaged`);
  res.end();
}

/** Resolves when the client has taken what was written, or has left. */
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

/** Send a text that is kept as bytes for all who ask, in the coding that this client takes. */
export function sendCoded(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  { bytes, etag, coding }: { readonly bytes: Uint8Array; readonly etag: string; readonly coding: string | null },
): void {
  if (isKnown(req, etag)) return sendUnchanged(res, cache, etag, ["vary", "accept-encoding"]);
  const head = [
    ...["content-type", type, "content-length", String(bytes.byteLength), "cache-control", cache, "etag", etag],
    ...["access-control-allow-origin", "*", "referrer-policy", REFERRER_POLICY, "vary", "accept-encoding"],
  ];
  if (coding) head.push("content-encoding", coding);
  res.writeHead(200, head);
  res.end(bytes);
}

/** Whether the client has it already (RFC 9110 13.1.2). */
function isKnown({ headers }: IncomingMessage, etag: string): boolean {
  const given = headers["if-none-match"]?.split(",") ?? [];
  return given.some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}

function sendUnchanged(res: ServerResponse, cache: string, etag: string, more: readonly string[] = []): void {
  res.writeHead(304, ["etag", etag, "cache-control", cache, "access-control-allow-origin", "*", ...more]);
  res.end();
}

/** Write the head for `size` bytes. Null when there is nothing more to send: HEAD, or a range that cannot be had. */
function startBytes(
  req: IncomingMessage,
  res: ServerResponse,
  type: string,
  cache: string,
  size: number,
  etag?: string,
): ByteRange | null {
  // A range of what was there before is no range of this (RFC 9110 13.1.5). Without an ETag the address stands for one content for ever.
  const isOfAnother = etag !== undefined && (req.headers["if-range"] ?? etag) !== etag;
  const range = isOfAnother ? null : parseRange(req.headers.range, size);
  if (range === "unsatisfiable") {
    res.writeHead(416, [
      "content-range",
      `bytes */${size}`,
      "cache-control",
      PERSONAL.error,
      "access-control-allow-origin",
      "*",
    ]);
    res.end();
    return null;
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
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
  // Its bytes came from customers.
  if (etag !== undefined) head.push("etag", etag, "x-content-type-options", "nosniff");
  if (range) head.push("content-range", `bytes ${start}-${end}/${size}`, "access-control-expose-headers", EXPOSED);
  res.writeHead(range ? 206 : 200, head);
  if (req.method !== "HEAD" && size > 0) return { start, end };
  res.end();
  return null;
}
