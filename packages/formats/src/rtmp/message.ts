import { FormatError } from "../bits/index.ts";
import { type AmfObject, type AmfValue, readAmf0, writeAmf0 } from "./amf0.ts";

/** Message types (RTMP 1.0, 5.4 and 7.1). */
export const MESSAGE = {
  setChunkSize: 1,
  abort: 2,
  acknowledgement: 3,
  userControl: 4,
  windowAckSize: 5,
  setPeerBandwidth: 6,
  audio: 8,
  video: 9,
  dataAmf3: 15,
  commandAmf3: 17,
  dataAmf0: 18,
  commandAmf0: 20,
  aggregate: 22,
} as const;

export const USER_CONTROL = { streamBegin: 0, setBufferLength: 3, pingRequest: 6, pingResponse: 7 } as const;

/** A command message, for example `connect` or `publish`. */
export interface Command {
  readonly name: string;
  readonly transactionId: number;
  readonly object: AmfValue;
  readonly args: readonly AmfValue[];
}

/** Reads the payload of a command message. Throws `FormatError`. */
export function readCommand(payload: Uint8Array, typeId: number): Command {
  // Encoders send AMF3 commands as AMF0 after one zero byte.
  const bytes = typeId === MESSAGE.commandAmf3 && payload[0] === 0 ? payload.subarray(1) : payload;
  const [name, transactionId, object, ...args] = readAmf0(bytes);
  if (typeof name !== "string") throw new FormatError("a command name", 0);
  return { name, transactionId: typeof transactionId === "number" ? transactionId : 0, object, args };
}

/** Reads the metadata of an `onMetaData` data message (FLV 1.0, annex E.5). Null for other data messages. Throws `FormatError`. */
export function readMetadata(payload: Uint8Array): AmfObject | null {
  const values = readAmf0(payload);
  const at = values[0] === "@setDataFrame" ? 1 : 0;
  const metadata = values[at + 1];
  if (values[at] !== "onMetaData" || typeof metadata !== "object" || metadata === null || Array.isArray(metadata))
    return null;
  return metadata;
}

export function writeCommand(name: string, transactionId: number, ...values: readonly AmfValue[]): Uint8Array {
  return writeAmf0(name, transactionId, ...values);
}

/** Payload of a control message with a single number. */
export function uint32Payload(value: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, value);
  return payload;
}

/** Reads the payload of a control message with a single number. Throws `FormatError` if it is too short. */
export function readUint32(payload: Uint8Array): number {
  if (payload.byteLength < 4) throw new FormatError("4 bytes", payload.byteLength);
  return new DataView(payload.buffer, payload.byteOffset).getUint32(0);
}

/** Set Peer Bandwidth with the dynamic limit type (RTMP 1.0, 5.4.5). */
export function peerBandwidthPayload(bytes: number): Uint8Array {
  return Uint8Array.from([...uint32Payload(bytes), 2]);
}

export function userControlPayload(event: number, value: number): Uint8Array {
  return Uint8Array.from([event >> 8, event & 0xff, ...uint32Payload(value)]);
}
