import { FrameWriter, frameReader, jsonFrame } from "../../platform/pipe-frames.ts";
import type { SrtAddress } from "./srt-address.ts";

/** A connection to make, to an address that has been checked. */
export interface SrtCall extends SrtAddress {
  readonly address: string;
  readonly port: number;
  /** Who answers there: a *target* takes media, a *source* gives it. */
  readonly peer: SrtPeer;
}

export type SrtPeer = "target" | "source";

/** Where callers are accepted. */
export interface SrtPlace {
  readonly host: string;
  readonly port: number;
  /** That all callers must know; null for none. */
  readonly passphrase: string | null;
}

/** How well the network carried a caller's media in the last second, in packets. */
export interface SrtLinkReport {
  readonly id: number;
  readonly roundTripMs: number;
  /** The time that packets have to arrive. */
  readonly latencyMs: number;
  readonly received: number;
  readonly lost: number;
  readonly retransmitted: number;
  /** Came too late, or never. */
  readonly dropped: number;
}

export type ToSrtChild =
  | { readonly type: "call"; readonly id: number; readonly call: SrtCall }
  | { readonly type: "media"; readonly id: number; readonly bytes: Uint8Array }
  /** Immediately, or after the queued data is sent. */
  | { readonly type: "close"; readonly id: number; readonly isAtOnce: boolean }
  | { readonly type: "listen"; readonly place: SrtPlace }
  /** Receive more from a caller than its first message. */
  | { readonly type: "receive"; readonly id: number };

export type FromSrtChild =
  /** libsrt is not installed. The child exits. */
  | { readonly type: "no-library" }
  | { readonly type: "connected"; readonly id: number }
  /** Bytes that each target has acknowledged. Sent several times per second, even without connections. */
  | { readonly type: "taken"; readonly taken: readonly (readonly [id: number, bytes: number])[] }
  /** The connection has ended or could not be made. */
  | { readonly type: "failed"; readonly id: number; readonly reason: string }
  | { readonly type: "listening" }
  | { readonly type: "not-listening"; readonly reason: string }
  | {
      readonly type: "caller";
      /** From `FIRST_CALLER` on. */
      readonly id: number;
      readonly address: string;
      readonly streamId: string;
      readonly isKeyShared: boolean;
    }
  /** Of a source: all that has come. Of a caller: its first message, and once it is asked for more, all that has come. */
  | { readonly type: "media"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly type: "links"; readonly links: readonly SrtLinkReport[] }
  /** The caller's connection is over. `isWanted`: the caller closed it. */
  | { readonly type: "gone"; readonly id: number; readonly reason: string; readonly isWanted: boolean };

/** Numbers below are connections that this side asked for. */
export const FIRST_CALLER = 2 ** 31;

const JSON_FRAME = 1;
const MEDIA_FRAME = 2;
const TYPE_BYTES = 1;
const ID_BYTES = 4;

export function frameToSrtChild(message: ToSrtChild): Uint8Array {
  return message.type === "media" ? mediaFrame(message.id, message.bytes) : jsonFrame(JSON_FRAME, message);
}

export function frameFromSrtChild(message: FromSrtChild): Uint8Array {
  return message.type === "media" ? mediaFrame(message.id, message.bytes) : jsonFrame(JSON_FRAME, message);
}

export const toSrtChildReader = (): ((bytes: Uint8Array) => ToSrtChild[]) => frameReader<ToSrtChild>(readFrame);

/** Its media is a view of `body`. */
export const readFromSrtChild = (body: Buffer): FromSrtChild => readFrame<FromSrtChild>(body);

function mediaFrame(id: number, bytes: Uint8Array): Uint8Array {
  const frame = new FrameWriter(MEDIA_FRAME, ID_BYTES + bytes.byteLength);
  frame.uint32(id);
  return frame.end(bytes);
}

function readFrame<Message>(body: Buffer): Message | { type: "media"; id: number; bytes: Uint8Array } {
  if (body[0] !== MEDIA_FRAME) return JSON.parse(String(body.subarray(TYPE_BYTES))) as Message;
  return { type: "media", id: body.readUInt32BE(TYPE_BYTES), bytes: body.subarray(TYPE_BYTES + ID_BYTES) };
}
