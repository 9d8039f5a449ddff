/** A message to send. Timestamps are milliseconds, modulo 2^32. */
export interface OutgoingMessage {
  readonly chunkStreamId: number;
  readonly typeId: number;
  readonly timestamp: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

const EXTENDED = 0xffffff;

/** Write a message as chunks of at most `chunkSize` bytes (RTMP 1.0, 5.3.1), a full header first. Chunk stream ids from 2 to 63. */
export function writeMessage(message: OutgoingMessage, chunkSize: number): Uint8Array {
  const { chunkStreamId, typeId, streamId, payload } = message;
  const timestamp = message.timestamp >>> 0;
  const isExtended = timestamp >= EXTENDED;
  const extra = isExtended ? 4 : 0;
  const chunks = Math.max(1, Math.ceil(payload.byteLength / chunkSize));
  const out = new Uint8Array(12 + extra + (chunks - 1) * (1 + extra) + payload.byteLength);
  const view = new DataView(out.buffer);
  out[0] = chunkStreamId;
  view.setUint32(1, ((isExtended ? EXTENDED : timestamp) << 8) | (payload.byteLength >> 16));
  view.setUint16(5, payload.byteLength & 0xffff);
  out[7] = typeId;
  view.setUint32(8, streamId, true);
  if (isExtended) view.setUint32(12, timestamp);
  let at = 12 + extra;
  for (let from = 0; from < payload.byteLength; from += chunkSize) {
    if (from > 0) {
      out[at++] = 0xc0 | chunkStreamId;
      if (isExtended) view.setUint32(at, timestamp);
      at += extra;
    }
    const piece = payload.subarray(from, from + chunkSize);
    out.set(piece, at);
    at += piece.byteLength;
  }
  return out;
}
