import { FormatError } from "../bits/index.ts";

/** Reads the FourCC at `at` as text. Throws `FormatError` when the message is too short. */
export function fourCcAt(payload: Uint8Array, at: number): string {
  if (at + 4 > payload.byteLength) throw new FormatError("a FourCC", at);
  return String.fromCharCode(...payload.subarray(at, at + 4));
}

/** Skips one ModEx block (Enhanced RTMP v2): its size, its data, then its type and the next packet type. */
export function skipModEx(payload: Uint8Array, from: number): { at: number; packetType: number } {
  let at = from;
  let size = (payload[at++] ?? 0) + 1;
  if (size === 256) {
    size = ((payload[at] ?? 0) << 8) + (payload[at + 1] ?? 0) + 1;
    at += 2;
  }
  at += size;
  const types = payload[at];
  if (types === undefined) throw new FormatError("a packet type behind a ModEx block", at);
  return { at: at + 1, packetType: types & 0x0f };
}
