import { FrameWriter, frameReader, jsonFrame } from "../../../platform/pipe-frames.ts";
import type { SrtAddress } from "./srt-address.ts";

/** A connection to make, to an address that has been checked. */
export interface SrtCall extends SrtAddress {
  readonly address: string;
  readonly port: number;
}

export type ToSrtChild =
  | { readonly type: "call"; readonly id: number; readonly call: SrtCall }
  | { readonly type: "media"; readonly id: number; readonly bytes: Uint8Array }
  /** Immediately, or after the queued data is sent. */
  | { readonly type: "close"; readonly id: number; readonly isAtOnce: boolean };

export type FromSrtChild =
  /** libsrt is not installed. The child exits. */
  | { readonly type: "no-library" }
  | { readonly type: "connected"; readonly id: number }
  /** Bytes that each target has acknowledged. Sent several times per second, even without connections. */
  | { readonly type: "taken"; readonly taken: readonly (readonly [id: number, bytes: number])[] }
  /** The connection has ended or could not be made. */
  | { readonly type: "failed"; readonly id: number; readonly reason: string };

const JSON_FRAME = 1;
const MEDIA_FRAME = 2;
const TYPE_BYTES = 1;
const ID_BYTES = 4;

export function frameToSrtChild(message: ToSrtChild): Uint8Array {
  if (message.type !== "media") return jsonFrame(JSON_FRAME, message);
  const frame = new FrameWriter(MEDIA_FRAME, ID_BYTES + message.bytes.byteLength);
  frame.uint32(message.id);
  return frame.end(message.bytes);
}

export const frameFromSrtChild = (message: FromSrtChild): Uint8Array => jsonFrame(JSON_FRAME, message);

export function toSrtChildReader(): (bytes: Uint8Array) => ToSrtChild[] {
  return frameReader((body) => {
    if (body[0] !== MEDIA_FRAME) return JSON.parse(String(body.subarray(TYPE_BYTES))) as ToSrtChild;
    return { type: "media", id: body.readUInt32BE(TYPE_BYTES), bytes: body.subarray(TYPE_BYTES + ID_BYTES) };
  });
}

export const fromSrtChildReader = (): ((bytes: Uint8Array) => FromSrtChild[]) =>
  frameReader((body) => JSON.parse(String(body.subarray(TYPE_BYTES))) as FromSrtChild);
