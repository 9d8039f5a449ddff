/** RTCP (RFC 3550 6, RFC 4585 6, and the draft of REMB), as far as a media server reads and writes it. */

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const TRANSPORT_FEEDBACK = 205;
const PAYLOAD_FEEDBACK = 206;
const EXTENDED_REPORT = 207;
const NACK = 1;
const PLI = 1;
const FIR = 4;
const APPLICATION_LAYER = 15;
/** "REMB" */
const REMB = 0x52454d42;

/** RFC 3611: a receiver's clock, and a sender's answer to it. */
const REFERENCE_TIME = 4;
const DELAY_SINCE_REFERENCE = 5;
const DELAY_BYTES = 12;

const REPORT_BLOCK_BYTES = 24;
/** Of one NACK: more is not mended by asking. */
const MAX_NACK_ITEMS = 64;
/** Seconds from 1900, where NTP begins, to 1970. */
const NTP_UNIX_SECONDS = 2_208_988_800;

/** The reading of the sender's clock at this RTP timestamp. */
export interface SenderReport {
  readonly type: "sender-report";
  readonly ssrc: number;
  /** Milliseconds since the Unix epoch, by the sender's clock. */
  readonly sentAtMs: number;
  readonly timestamp: number;
  /** The middle 32 bits of the NTP time, to be given back in a receiver report. */
  readonly ntpMiddle: number;
}

/** How a receiver got one stream. */
export interface ReceptionReport {
  readonly type: "reception";
  /** Of the stream that the report is about. */
  readonly ssrc: number;
  /** Of the packets since the last report, from 0 to 1. */
  readonly fractionLost: number;
  /** The middle of the NTP time of the last sender report; 0 for none. */
  readonly lastReport: number;
  /** From then until this report, in seconds. */
  readonly delaySeconds: number;
}

export interface NackReport {
  readonly type: "nack";
  readonly ssrc: number;
  readonly count: number;
}

export interface KeyframeRequest {
  readonly type: "keyframe-request";
}

/** Receiver estimated maximum bitrate: the rate that the receiver thinks its network carries. */
export interface BandwidthReport {
  readonly type: "bandwidth";
  readonly bitsPerSecond: number;
}

/** The answer of a sender to our `writeReferenceTime`. */
export interface ReferenceReport {
  readonly type: "reference";
  /** The middle of the NTP time of our reference. */
  readonly lastReport: number;
  /** From then until this answer, in seconds. */
  readonly delaySeconds: number;
}

export type RtcpReport =
  | SenderReport
  | ReceptionReport
  | NackReport
  | KeyframeRequest
  | BandwidthReport
  | ReferenceReport;

/** The useful reports of a compound packet. An unreadable one ends the list. */
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
    reports.push({ type: "nack", ssrc: view.getUint32(offset + 8), count: nackedPackets(view, offset + 12, end) });
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

/** 6 bits of exponent and 18 of mantissa, behind the number of streams. */
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

function nackedPackets(view: DataView, start: number, end: number): number {
  let count = 0;
  for (let at = start; at + 4 <= end; at += 4) {
    count++;
    for (let more = view.getUint16(at + 2); more !== 0; more &= more - 1) count++;
  }
  return count;
}

/** The middle 32 bits of the NTP time of `unixMs`. */
export function ntpMiddle(unixMs: number): number {
  return Math.round((unixMs / 1000 + NTP_UNIX_SECONDS) * 65_536) % 2 ** 32;
}

/** Round trip by a report that came at `nowMs`; null where its sender had not heard our clock yet. */
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
  /** Of the packets since the last report, from 0 to 1. */
  readonly fractionLost: number;
  readonly lost: number;
  readonly highestSequence: number;
  readonly lastReport: number;
  readonly delaySeconds: number;
}

/** A receiver report; with no blocks it is what compound packets have to begin with. */
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

/** Our clock, which a sender repeats with how long it had it (RFC 3611 4.4): so a receiver learns the round trip. */
export function writeReferenceTime(sender: number, unixMs: number): Uint8Array {
  const view = packet(EXTENDED_REPORT, 0, 16, sender);
  view.setUint8(8, REFERENCE_TIME);
  view.setUint16(10, 2);
  const seconds = unixMs / 1000 + NTP_UNIX_SECONDS;
  view.setUint32(12, Math.floor(seconds));
  view.setUint32(16, Math.floor((seconds % 1) * 2 ** 32));
  return bytesOf(view);
}

/** Picture loss indication: send a keyframe. */
export function writePli(sender: number, media: number): Uint8Array {
  const view = packet(PAYLOAD_FEEDBACK, PLI, 8, sender);
  view.setUint32(8, media);
  return bytesOf(view);
}

/** Send these again. `sequences` has 16 bits each and ascends. */
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

/** Receiver estimated maximum bitrate: send no more than this. */
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
