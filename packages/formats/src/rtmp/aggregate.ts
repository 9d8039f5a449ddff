import { FormatError } from "../bits/index.ts";

const HEAD_BYTES = 11;
const BACK_POINTER_BYTES = 4;

export interface AggregatePart {
  readonly typeId: number;
  readonly timestamp: number;
  /** A copy. */
  readonly payload: Uint8Array;
}

/** The messages in an aggregate message (RTMP 1.0, 7.1.6), which lie there as the tags of an FLV file. Throws `FormatError`. */
export function* readAggregate(payload: Uint8Array, timestamp: number): Generator<AggregatePart, void> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let first: number | null = null;
  for (let at = 0; at < payload.byteLength; ) {
    if (at + HEAD_BYTES > payload.byteLength) throw new FormatError("the header of a message", at);
    const length = view.getUint32(at) & 0xffffff;
    const time = (view.getUint32(at + 4) >>> 8) | ((payload[at + 7] ?? 0) << 24);
    const end = at + HEAD_BYTES + length;
    if (end > payload.byteLength) throw new FormatError(`a message of ${length} bytes`, at);
    first ??= time;
    yield {
      typeId: payload[at] ?? 0,
      // Its messages keep their distances to the first one, which has the time of the whole.
      timestamp: (timestamp + time - first) >>> 0,
      payload: payload.slice(at + HEAD_BYTES, end),
    };
    at = end + BACK_POINTER_BYTES;
  }
}
