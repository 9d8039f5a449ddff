import { FormatError } from "@weir/formats/bits";

/** "PROXY TCP6 …" with line end, by the specification (haproxy.org, proxy-protocol.txt, 2.1). */
const MAX_V1_BYTES = 107;
const V2_HEAD_BYTES = 16;
/** Addresses and optional TLVs. */
const MAX_V2_BODY_BYTES = 2048;
const V2_SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const V1_START = Buffer.from("PROXY ", "latin1");
const V1_LINE =
  /^PROXY (?:UNKNOWN\b.*|TCP4 ([\d.]{7,15}) [\d.]{7,15} \d{1,5} \d{1,5}|TCP6 ([\da-fA-F:.]{2,45}) [\da-fA-F:.]{2,45} \d{1,5} \d{1,5})$/;
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;

export interface ProxyHeaderRead {
  /** The client's address; null if the proxy names none. */
  readonly address: string | null;
  /** The bytes after the header. */
  readonly rest: Uint8Array;
}

/** Parses an optional PROXY protocol header, version 1 or 2, at the start of a connection. */
export class ProxyHeader {
  readonly #isTrusted: boolean;
  #seen = Buffer.alloc(0);

  /** `isTrusted`: the peer is allowed to name its client. */
  constructor(isTrusted: boolean) {
    this.#isTrusted = isTrusted;
  }

  /** Null while incomplete. Throws `FormatError` for bytes that are neither RTMP nor a header from a trusted proxy. */
  push(bytes: Uint8Array): ProxyHeaderRead | null {
    this.#seen = Buffer.concat([this.#seen, bytes]);
    const seen = this.#seen;
    if (seen.length === 0) return null;
    // RTMP starts with 3.
    if (seen[0] !== V1_START[0] && seen[0] !== V2_SIGNATURE[0]) return { address: null, rest: seen };
    if (!this.#isTrusted) throw new FormatError("RTMP; PROXY headers are accepted from WEIR_TRUSTED_PROXIES only", 0);
    const start = seen[0] === V1_START[0] ? V1_START : V2_SIGNATURE;
    const known = seen.subarray(0, start.length);
    if (!known.equals(start.subarray(0, known.length))) throw new FormatError("a PROXY header or RTMP", 0);
    return start === V1_START ? readV1(seen) : readV2(seen);
  }
}

function readV1(seen: Buffer): ProxyHeaderRead | null {
  const end = seen.subarray(0, MAX_V1_BYTES).indexOf("\r\n");
  if (end < 0) {
    if (seen.length < MAX_V1_BYTES) return null;
    throw new FormatError(`a PROXY header of at most ${MAX_V1_BYTES} bytes`, 0);
  }
  const line = V1_LINE.exec(seen.toString("latin1", 0, end));
  if (!line) throw new FormatError("a PROXY header with the addresses of a TCP connection", 0);
  return { address: line[1] ?? line[2] ?? null, rest: seen.subarray(end + 2) };
}

function readV2(seen: Buffer): ProxyHeaderRead | null {
  if (seen.length < V2_HEAD_BYTES) return null;
  const command = seen.readUInt8(12);
  const family = seen.readUInt8(13);
  const length = seen.readUInt16BE(14);
  if (command !== LOCAL && command !== PROXY) throw new FormatError("a PROXY header of version 2", 12);
  if (length > MAX_V2_BODY_BYTES) throw new FormatError(`a PROXY header of at most ${MAX_V2_BODY_BYTES} bytes`, 14);
  if (seen.length < V2_HEAD_BYTES + length) return null;
  const body = seen.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + length);
  return { address: command === PROXY ? sourceOf(family, body) : null, rest: seen.subarray(V2_HEAD_BYTES + length) };
}

function sourceOf(family: number, body: Buffer): string | null {
  if (family === TCP4 && body.length >= 12) return [...body.subarray(0, 4)].join(".");
  if (family !== TCP6 || body.length < 36) return null;
  return Array.from({ length: 8 }, (_, part) => body.readUInt16BE(part * 2).toString(16)).join(":");
}
