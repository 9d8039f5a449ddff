/** RTCP (RFC 3550 6, RFC 4585 6, the REMB draft), limited to the reports that a media server reads and writes. */

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const CNAME = 1;
const TRANSPORT_FEEDBACK = 205;
const PAYLOAD_FEEDBACK = 206;
const EXTENDED_REPORT = 207;
const NACK = 1;
const PLI = 1;
const FIR = 4;
const APPLICATION_LAYER = 15;
/** The characters `REMB`. */
const REMB = 0x52454d42;

/** RFC 3611 4.4 and 4.5: receiver reference time, and delay since last receiver report. */
const REFERENCE_TIME = 4;
const DELAY_SINCE_REFERENCE = 5;
const DELAY_BYTES = 12;

const REPORT_BLOCK_BYTES = 24;
/** Per NACK. With more losses, retransmission no longer helps. */
const MAX_NACK_ITEMS = 64;
/** Seconds from the NTP epoch (1900) to the Unix epoch. */
const NTP_UNIX_SECONDS = 2_208_988_800;

/** Maps an RTP timestamp to the sender's clock. */
export interface SenderReport {
  readonly type: "sender-report";
  readonly ssrc: number;
  /** Milliseconds since the Unix epoch, by the sender's clock. */
  readonly sentAtMs: number;
  readonly timestamp: number;
  /** The middle 32 bits of the NTP time, to be echoed in a receiver report. */
  readonly ntpMiddle: number;
}

/** A receiver's statistics for one stream. */
export interface ReceptionReport {
  readonly type: "reception";
  /** The stream that the report is about. */
  readonly ssrc: number;
  /** Fraction of packets lost since the previous report, 0 to 1. */
  readonly fractionLost: number;
  /** Middle 32 bits of the NTP time of the last sender report received; 0 for none. */
  readonly lastReport: number;
  /** Seconds between receiving that report and sending this one. */
  readonly delaySeconds: number;
}

export interface NackReport {
  readonly type: "nack";
  readonly ssrc: number;
  /** 16 bits each. A sender may repeat one. */
  readonly sequences: readonly number[];
}

export interface KeyframeRequest {
  readonly type: "keyframe-request";
}

/** REMB, receiver estimated maximum bitrate: the bitrate that the receiver expects its network to carry. */
export interface BandwidthReport {
  readonly type: "bandwidth";
  readonly bitsPerSecond: number;
}

/** A sender's reply to `writeReferenceTime`. */
export interface ReferenceReport {
  readonly type: "reference";
  /** Middle 32 bits of the NTP time of our reference time. */
  readonly lastReport: number;
  /** Seconds between receiving it and sending this reply. */
  readonly delaySeconds: number;
}

export type RtcpReport =
  | SenderReport
  | ReceptionReport
  | NackReport
  | KeyframeRequest
  | BandwidthReport
  | ReferenceReport;

/** Reads the known reports of a compound packet. Stops at the first unreadable one. */
export function readRtcp(bytes: Uint8Array): RtcpReport[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reports: RtcpReport[] = [];
  for (let offset = 0; offset + 8 <= bytes.length; ) {
    const first = view.getUint8(offset);
    const end = offset + 4 + view.getUint16(offset + 2) * 4;
    if (first >> 6 !== 2 || end > bytes.length) break;
    readOne(view, offset, end, reports);
    offset = end;
  }
  return reports;
}

function readOne(view: DataView, offset: number, end: number, reports: RtcpReport[]): void {
  const count = view.getUint8(offset) & 0x1f;
  const type = view.getUint8(offset + 1);
  if (type === SENDER_REPORT && end - offset >= 28) {
    const seconds = view.getUint32(offset + 8);
    const fraction = view.getUint32(offset + 12);
    reports.push({
      type: "sender-report",
      ssrc: view.getUint32(offset + 4),
      sentAtMs: (seconds - NTP_UNIX_SECONDS) * 1000 + (fraction / 2 ** 32) * 1000,
      timestamp: view.getUint32(offset + 16),
      ntpMiddle: ((seconds & 0xffff) * 0x10000 + (fraction >>> 16)) >>> 0,
    });
    readBlocks(view, offset + 28, end, count, reports);
  } else if (type === RECEIVER_REPORT) readBlocks(view, offset + 8, end, count, reports);
  else if (type === TRANSPORT_FEEDBACK && count === NACK && end - offset >= 12)
    reports.push({ type: "nack", ssrc: view.getUint32(offset + 8), sequences: nackedPackets(view, offset + 12, end) });
  else if (type === PAYLOAD_FEEDBACK && (count === PLI || count === FIR)) reports.push({ type: "keyframe-request" });
  else if (type === PAYLOAD_FEEDBACK && count === APPLICATION_LAYER && isRemb(view, offset, end))
    reports.push({ type: "bandwidth", bitsPerSecond: rembRate(view.getUint32(offset + 16)) });
  else if (type === EXTENDED_REPORT) readDelays(view, offset + 8, end, reports);
}

function readDelays(view: DataView, start: number, end: number, reports: RtcpReport[]): void {
  for (let at = start; at + 4 + DELAY_BYTES <= end; at += 4 + view.getUint16(at + 2) * 4) {
    if (view.getUint8(at) !== DELAY_SINCE_REFERENCE) continue;
    const delaySeconds = view.getUint32(at + 12) / 65_536;
    reports.push({ type: "reference", lastReport: view.getUint32(at + 8), delaySeconds });
  }
}

const isRemb = (view: DataView, offset: number, end: number): boolean =>
  end - offset >= 20 && view.getUint32(offset + 12) === REMB;

/** 6 bits of exponent, 18 of mantissa; the upper 8 bits count the streams. */
const rembRate = (field: number): number => (field & 0x3ffff) * 2 ** ((field >>> 18) & 0x3f);

function readBlocks(view: DataView, start: number, end: number, count: number, reports: RtcpReport[]): void {
  for (let at = start; count > 0 && at + REPORT_BLOCK_BYTES <= end; at += REPORT_BLOCK_BYTES, count--)
    reports.push({
      type: "reception",
      ssrc: view.getUint32(at),
      fractionLost: view.getUint8(at + 4) / 256,
      lastReport: view.getUint32(at + 16),
      delaySeconds: view.getUint32(at + 20) / 65_536,
    });
}

function nackedPackets(view: DataView, start: number, end: number): number[] {
  const sequences: number[] = [];
  for (let at = start; at + 4 <= end; at += 4) {
    const first = view.getUint16(at);
    sequences.push(first);
    let number = first + 1;
    for (let more = view.getUint16(at + 2); more !== 0; more >>= 1, number++)
      if ((more & 1) !== 0) sequences.push(number & 0xffff);
  }
  return sequences;
}

/** The middle 32 bits of the NTP time of `unixMs`. */
export function ntpMiddle(unixMs: number): number {
  return Math.round((unixMs / 1000 + NTP_UNIX_SECONDS) * 65_536) % 2 ** 32;
}

/** Round-trip time from a report received at `nowMs`. Null if its sender had not yet received our clock. */
export function roundTripMs(
  { lastReport, delaySeconds }: Pick<ReceptionReport, "lastReport" | "delaySeconds">,
  nowMs: number,
): number | null {
  if (lastReport === 0) return null;
  const since = (ntpMiddle(nowMs) - lastReport + 2 ** 32) % 2 ** 32;
  const milliseconds = (since / 65_536 - delaySeconds) * 1000;
  return milliseconds >= 0 && milliseconds < 60_000 ? milliseconds : null;
}

export interface OwnReception {
  readonly ssrc: number;
  /** Fraction of packets lost since the previous report, 0 to 1. */
  readonly fractionLost: number;
  readonly lost: number;
  readonly highestSequence: number;
  readonly lastReport: number;
  readonly delaySeconds: number;
}

/** Writes a receiver report. Without blocks it is the header that compound packets must start with. */
export function writeReceiverReport(sender: number, blocks: readonly OwnReception[] = []): Uint8Array {
  const view = packet(RECEIVER_REPORT, blocks.length, 4 + blocks.length * REPORT_BLOCK_BYTES, sender);
  for (const [index, block] of blocks.entries()) {
    const at = 8 + index * REPORT_BLOCK_BYTES;
    view.setUint32(at, block.ssrc);
    view.setUint32(at + 4, Math.min(block.lost, 0x7fffff));
    view.setUint8(at + 4, Math.min(255, Math.round(block.fractionLost * 256)));
    view.setUint32(at + 8, block.highestSequence >>> 0);
    view.setUint32(at + 16, block.lastReport);
    view.setUint32(at + 20, Math.round(block.delaySeconds * 65_536));
  }
  return bytesOf(view);
}

export interface OwnSending {
  readonly ssrc: number;
  readonly cname: string;
  /** The time of sending. */
  readonly unixMs: number;
  /** The RTP timestamp of that time, whether or not a packet has it. */
  readonly timestamp: number;
  readonly packets: number;
  readonly bytes: number;
}

/** Writes a sender report with the source description that RFC 3550 6.1 requires. */
export function writeSenderReport({ ssrc, cname, unixMs, timestamp, packets, bytes }: OwnSending): Uint8Array {
  const report = packet(SENDER_REPORT, 0, 24, ssrc);
  const seconds = unixMs / 1000 + NTP_UNIX_SECONDS;
  report.setUint32(8, Math.floor(seconds));
  report.setUint32(12, Math.floor((seconds % 1) * 2 ** 32));
  report.setUint32(16, timestamp >>> 0);
  report.setUint32(20, packets >>> 0);
  report.setUint32(24, bytes >>> 0);
  // A chunk ends with at least one zero, on a 32-bit boundary.
  const itemBytes = Math.floor((2 + cname.length) / 4 + 1) * 4;
  const description = packet(SOURCE_DESCRIPTION, 1, 4 + itemBytes, ssrc);
  description.setUint8(8, CNAME);
  description.setUint8(9, cname.length);
  const compound = new Uint8Array(report.byteLength + description.byteLength);
  compound.set(bytesOf(report));
  compound.set(bytesOf(description), report.byteLength);
  for (let n = 0; n < cname.length; n++) compound[report.byteLength + 10 + n] = cname.charCodeAt(n);
  return compound;
}

/** Sends our clock (RFC 3611 4.4). The sender echoes it with the delay since then, from which a receiver computes the round-trip time. */
export function writeReferenceTime(sender: number, unixMs: number): Uint8Array {
  const view = packet(EXTENDED_REPORT, 0, 16, sender);
  view.setUint8(8, REFERENCE_TIME);
  view.setUint16(10, 2);
  const seconds = unixMs / 1000 + NTP_UNIX_SECONDS;
  view.setUint32(12, Math.floor(seconds));
  view.setUint32(16, Math.floor((seconds % 1) * 2 ** 32));
  return bytesOf(view);
}

/** Writes a picture loss indication: a request for a keyframe. */
export function writePli(sender: number, media: number): Uint8Array {
  const view = packet(PAYLOAD_FEEDBACK, PLI, 8, sender);
  view.setUint32(8, media);
  return bytesOf(view);
}

/** Requests retransmission. `sequences` are 16-bit numbers in ascending order. */
export function writeNack(sender: number, media: number, sequences: readonly number[]): Uint8Array {
  const items: { first: number; mask: number }[] = [];
  for (const sequence of sequences) {
    const last = items.at(-1);
    const distance = last ? (sequence - last.first - 1) & 0xffff : 16;
    if (last && distance < 16) last.mask |= 1 << distance;
    else if (items.length < MAX_NACK_ITEMS) items.push({ first: sequence, mask: 0 });
  }
  const view = packet(TRANSPORT_FEEDBACK, NACK, 8 + items.length * 4, sender);
  view.setUint32(8, media);
  for (const [index, { first, mask }] of items.entries()) {
    view.setUint16(12 + index * 4, first);
    view.setUint16(14 + index * 4, mask);
  }
  return bytesOf(view);
}

/** REMB: limits the sender's bitrate. */
export function writeRemb(sender: number, media: readonly number[], bitsPerSecond: number): Uint8Array {
  const view = packet(PAYLOAD_FEEDBACK, APPLICATION_LAYER, 16 + media.length * 4, sender);
  view.setUint32(12, REMB);
  let exponent = 0;
  let mantissa = Math.round(bitsPerSecond);
  while (mantissa >= 2 ** 18) {
    mantissa = Math.floor(mantissa / 2);
    exponent++;
  }
  view.setUint32(16, (media.length * 2 ** 24 + exponent * 2 ** 18 + mantissa) >>> 0);
  for (const [index, ssrc] of media.entries()) view.setUint32(20 + index * 4, ssrc);
  return bytesOf(view);
}

function packet(type: number, count: number, bodyBytes: number, sender: number): DataView {
  const view = new DataView(new ArrayBuffer(4 + bodyBytes));
  view.setUint8(0, 0x80 | count);
  view.setUint8(1, type);
  view.setUint16(2, bodyBytes / 4);
  view.setUint32(4, sender);
  return view;
}

const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer);
