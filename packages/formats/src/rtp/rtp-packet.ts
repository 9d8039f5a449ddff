/** One RTP packet (RFC 3550 5.1) without its header extensions. `payload` is a view. */
export interface RtpPacket {
  /** In video: the last packet of a picture. */
  readonly marker: boolean;
  readonly payloadType: number;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in ticks of the codec's clock. */
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

export const RTP_HEADER_BYTES = 12;

/** Returns null for bytes that are not an RTP packet. */
export function readRtpPacket(bytes: Uint8Array): RtpPacket | null {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < RTP_HEADER_BYTES || first >> 6 !== 2 || isRtcp(bytes)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let start = RTP_HEADER_BYTES + (first & 15) * 4;
  if (first & 0x10) {
    if (start + 4 > bytes.length) return null;
    start += 4 + view.getUint16(start + 2) * 4;
  }
  const padding = first & 0x20 ? (bytes[bytes.length - 1] ?? 0) : 0;
  const end = bytes.length - padding;
  if (start > end) return null;
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: view.getUint16(2),
    timestamp: view.getUint32(4),
    ssrc: view.getUint32(8),
    payload: bytes.subarray(start, end),
  };
}

/** Writes the header of a packet without CSRCs and extensions at the start of `target`. */
export function writeRtpHeader(target: DataView, header: Omit<RtpPacket, "payload">): void {
  target.setUint8(0, 0x80);
  target.setUint8(1, (header.marker ? 0x80 : 0) | header.payloadType);
  target.setUint16(2, header.sequence);
  target.setUint32(4, header.timestamp);
  target.setUint32(8, header.ssrc);
}

/** Distinguishes RTCP from RTP on a shared port: RTCP packet types never occur as an RTP marker bit and payload type (RFC 5761 4). */
export function isRtcp(bytes: Uint8Array): boolean {
  const type = bytes[1] ?? 0;
  return type >= 192 && type <= 223;
}
