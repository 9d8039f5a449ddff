const LENGTH_BYTES = 4;
const FU_A = 28;
const START = 0x80;
const END = 0x40;
const FRAGMENT_HEADER_BYTES = 2;

/** The payload of one RTP packet: two byte strings in order, so that large ones are not copied. */
export interface RtpPayload {
  /** Empty, or the header of a fragment. */
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  /** The last packet of a picture. */
  readonly isLast: boolean;
}

const NOTHING = new Uint8Array();

/** Splits an access unit with 4-byte lengths into payloads (RFC 6184, packetization mode 1): single NAL units, and FU-A for those above `maxBytes`. */
export function h264Payloads(accessUnit: Uint8Array, maxBytes: number): RtpPayload[] {
  const payloads: RtpPayload[] = [];
  const view = new DataView(accessUnit.buffer, accessUnit.byteOffset, accessUnit.byteLength);
  for (let at = 0; at + LENGTH_BYTES < accessUnit.length; ) {
    const start = at + LENGTH_BYTES;
    const end = Math.min(accessUnit.length, start + view.getUint32(at));
    const isLast = end + LENGTH_BYTES >= accessUnit.length;
    if (end - start > maxBytes) addFragments(payloads, accessUnit.subarray(start, end), maxBytes, isLast);
    else if (end > start) payloads.push({ head: NOTHING, body: accessUnit.subarray(start, end), isLast });
    at = end;
  }
  return payloads;
}

function addFragments(payloads: RtpPayload[], unit: Uint8Array, maxBytes: number, isLast: boolean): void {
  const header = unit[0] ?? 0;
  const indicator = (header & 0xe0) | FU_A;
  const size = maxBytes - FRAGMENT_HEADER_BYTES;
  for (let at = 1; at < unit.length; at += size) {
    const isEnd = at + size >= unit.length;
    const flags = (at === 1 ? START : 0) | (isEnd ? END : 0);
    const head = Uint8Array.of(indicator, flags | (header & 0x1f));
    payloads.push({ head, body: unit.subarray(at, at + size), isLast: isLast && isEnd });
  }
}
