import { type RtpPacket, readRtpPacket } from "./index.ts";

export interface PacketOptions {
  readonly sequence: number;
  readonly timestamp?: number;
  readonly marker?: boolean;
}

/** The bytes of an RTP packet with a header extension and padding. */
export function rtpBytes(payload: readonly number[] | Uint8Array, options: PacketOptions): Uint8Array {
  const { sequence, timestamp = 0, marker = false } = options;
  const extension = [0xbe, 0xde, 0, 1, 0x10, 0xff, 0, 0];
  const bytes = Uint8Array.of(0xb0, (marker ? 0x80 : 0) | 96, ...new Array(10).fill(0), ...extension, ...payload, 0, 2);
  const view = new DataView(bytes.buffer);
  view.setUint16(2, sequence & 0xffff);
  view.setUint32(4, timestamp);
  view.setUint32(8, 0x1234);
  return bytes;
}

export function rtpPacket(payload: readonly number[] | Uint8Array, options: PacketOptions): RtpPacket {
  const packet = readRtpPacket(rtpBytes(payload, options));
  if (!packet) throw new Error("the fixture made no packet");
  return packet;
}
