import { FormatError } from "../bits/index.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const MAX_BODY_BYTES = 256 * 1024;
const MAX_HEADERS = 100;
const DOLLAR = 0x24;
const CR = 13;
const LF = 10;

/** By name in lower case; a header that comes several times has several values. */
export type RtspHeaders = ReadonlyMap<string, readonly string[]>;

export interface RtspResponse {
  readonly status: number;
  readonly headers: RtspHeaders;
  readonly body: Uint8Array;
}

export interface RtspRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RtspHeaders;
  readonly body: Uint8Array;
}

export interface RtspHandler {
  response(response: RtspResponse): void;
  request(request: RtspRequest): void;
  /** A packet between messages (RFC 7826 14), as a view into memory that is not used again. */
  packet(channel: number, bytes: Uint8Array): void;
}

/** Reads one direction of an RTSP connection (RFC 2326, RFC 7826): messages, and interleaved packets between them. Holds at most one of them. */
export class RtspReader {
  readonly #handler: RtspHandler;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Nothing is whole before there are so many bytes. */
  #need = 1;

  constructor(handler: RtspHandler) {
    this.#handler = handler;
  }

  /** Keeps `chunk`. Throws `FormatError`. */
  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#need) return;
    const all = this.#chunks.length === 1 ? chunk : joined(this.#chunks, this.#bytes);
    let at = 0;
    for (let taken = 1; taken > 0 && at < all.length; at += taken) taken = this.#take(all.subarray(at));
    const rest = all.subarray(at);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
    if (rest.length === 0) this.#need = 1;
  }

  /** Bytes of the first part; 0 while it is not whole. */
  #take(bytes: Uint8Array): number {
    if (bytes[0] === DOLLAR) return this.#takePacket(bytes);
    // Some servers end a message with one line too many.
    if (bytes[0] === CR || bytes[0] === LF) return 1;
    return this.#takeMessage(bytes);
  }

  #takePacket(bytes: Uint8Array): number {
    if (bytes.length < 4) return this.#wait(4);
    const end = 4 + (((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0));
    if (bytes.length < end) return this.#wait(end);
    this.#handler.packet(bytes[1] ?? 0, bytes.subarray(4, end));
    return end;
  }

  #takeMessage(bytes: Uint8Array): number {
    const headBytes = endOfHead(bytes);
    if (headBytes === 0) {
      if (bytes.length > MAX_HEAD_BYTES) throw new FormatError(`a head of at most ${MAX_HEAD_BYTES} bytes`, 0);
      return this.#wait(bytes.length + 1);
    }
    const [first = "", ...lines] = textOf(bytes.subarray(0, headBytes)).split(/\r?\n/);
    const headers = headersOf(lines);
    const length = headers.get("content-length")?.[0] ?? "0";
    if (!/^\d{1,9}$/.test(length) || Number(length) > MAX_BODY_BYTES)
      throw new FormatError(`a body of at most ${MAX_BODY_BYTES} bytes`, 0);
    const end = headBytes + Number(length);
    if (bytes.length < end) return this.#wait(end);
    const body = bytes.subarray(headBytes, end);
    const [, status] = /^RTSP\/\d\.\d (\d{3})(?: |$)/.exec(first) ?? [];
    const [, method, url] = /^([A-Z_]{1,32}) (\S+) RTSP\/\d\.\d$/.exec(first) ?? [];
    if (status !== undefined) this.#handler.response({ status: Number(status), headers, body });
    else if (method !== undefined && url !== undefined) this.#handler.request({ method, url, headers, body });
    else throw new FormatError("an RTSP message", 0);
    return end;
  }

  #wait(bytes: number): 0 {
    this.#need = bytes;
    return 0;
  }
}

function endOfHead(bytes: Uint8Array): number {
  const limit = Math.min(bytes.length, MAX_HEAD_BYTES);
  for (let at = bytes.indexOf(LF); at >= 0 && at < limit; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return 0;
}

function headersOf(lines: readonly string[]): RtspHeaders {
  const headers = new Map<string, string[]>();
  if (lines.length > MAX_HEADERS) throw new FormatError(`at most ${MAX_HEADERS} headers`, 0);
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers.set(name, [...(headers.get(name) ?? []), value]);
  }
  return headers;
}

/** ISO 8859-1. */
function textOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
