/** The header of a message. Timestamps are milliseconds, modulo 2^32. */
export interface MessageHeader {
  readonly chunkStreamId: number;
  readonly typeId: number;
  readonly timestamp: number;
  readonly streamId: number;
}

export interface OutgoingMessage extends MessageHeader {
  readonly payload: Uint8Array;
}

const EXTENDED = 0xffffff;
const NOTHING = new Uint8Array(0);

/** Number of bytes that `putMessage` writes for a payload of this size. */
export function chunkedBytes(timestamp: number, payloadBytes: number, chunkSize: number): number {
  const extra = timestamp >>> 0 >= EXTENDED ? 4 : 0;
  const chunks = Math.max(1, Math.ceil(payloadBytes / chunkSize));
  return 12 + extra + (chunks - 1) * (1 + extra) + payloadBytes;
}

/**
 * Writes a message into `out` from `at` on, as chunks of at most `chunkSize` bytes (RTMP 1.0, 5.3.1), the first with a full header. The payload is
 * `head`, which must fit into one chunk, followed by `body`. Chunk stream ids are 2 to 63. Returns the end offset.
 */
export function putMessage(
  out: Uint8Array,
  at: number,
  { chunkStreamId, typeId, streamId, timestamp: time }: MessageHeader,
  head: Uint8Array,
  body: Uint8Array,
  chunkSize: number,
): number {
  const timestamp = time >>> 0;
  const isExtended = timestamp >= EXTENDED;
  const payloadBytes = head.byteLength + body.byteLength;
  const field = isExtended ? EXTENDED : timestamp;
  out[at] = chunkStreamId;
  out[at + 1] = field >> 16;
  out[at + 2] = field >> 8;
  out[at + 3] = field;
  out[at + 4] = payloadBytes >> 16;
  out[at + 5] = payloadBytes >> 8;
  out[at + 6] = payloadBytes;
  out[at + 7] = typeId;
  // The only little-endian field of RTMP.
  out[at + 8] = streamId;
  out[at + 9] = streamId >> 8;
  out[at + 10] = streamId >> 16;
  out[at + 11] = streamId >> 24;
  let end = at + 12;
  if (isExtended) end = putUint32(out, end, timestamp);
  for (let index = 0; index < head.byteLength; index++) out[end++] = head[index] ?? 0;
  let from = Math.min(chunkSize - head.byteLength, body.byteLength);
  out.set(from === body.byteLength ? body : body.subarray(0, from), end);
  end += from;
  while (from < body.byteLength) {
    out[end++] = 0xc0 | chunkStreamId;
    if (isExtended) end = putUint32(out, end, timestamp);
    const piece = body.subarray(from, from + chunkSize);
    out.set(piece, end);
    end += piece.byteLength;
    from += piece.byteLength;
  }
  return end;
}

function putUint32(out: Uint8Array, at: number, value: number): number {
  out[at] = value >> 24;
  out[at + 1] = value >> 16;
  out[at + 2] = value >> 8;
  out[at + 3] = value;
  return at + 4;
}

/** Returns a message as chunks in a new buffer. */
export function writeMessage({ payload, ...header }: OutgoingMessage, chunkSize: number): Uint8Array {
  const out = new Uint8Array(chunkedBytes(header.timestamp, payload.byteLength, chunkSize));
  putMessage(out, 0, header, NOTHING, payload, chunkSize);
  return out;
}
