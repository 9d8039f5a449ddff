import { TS_PACKET_BYTES } from "./ts-pid.ts";

const SYNC = 0x47;
const HEAD_BYTES = 4;
/** transport_error_indicator, and transport_scrambling_control: the payload cannot be read. */
const DAMAGED = 0x80;
const SCRAMBLED = 0xc0;
const NOTHING = new Uint8Array(0);

/** The payload of one transport packet: `bytes` from `start` to `end`. */
export interface TsPayload {
  readonly pid: number;
  /** A section or PES packet starts in it. */
  readonly isStart: boolean;
  readonly continuity: number;
  /** The sender announces that the continuity counter jumps. */
  readonly isDiscontinuity: boolean;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * Splits bytes that arrive in pieces of any size into transport packets (ISO/IEC 13818-1 2.4.3.2). After bytes that are no packet it goes on at the
 * next sync byte that another one follows. Keeps at most one packet.
 */
export class TsPacketReader {
  readonly #take: (payload: TsPayload) => void;
  #rest: Uint8Array = NOTHING;
  #isSynced = false;
  /** Reused for every packet. */
  readonly #payload = {
    ...{ pid: 0, isStart: false, continuity: 0, isDiscontinuity: false },
    ...{ bytes: this.#rest, start: 0, end: 0 },
  };

  /** `take` may keep neither its argument nor the bytes. */
  constructor(take: (payload: TsPayload) => void) {
    this.#take = take;
  }

  push(received: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? received : joined(this.#rest, received);
    let at = 0;
    for (; at + TS_PACKET_BYTES <= bytes.length; at += TS_PACKET_BYTES) {
      if (!this.#isSynced || bytes[at] !== SYNC) {
        at = findSync(bytes, at);
        // The byte after the packet is still to come.
        this.#isSynced = at + TS_PACKET_BYTES < bytes.length;
        if (!this.#isSynced) break;
      }
      this.#read(bytes, at);
    }
    this.#rest = at < bytes.length ? bytes.slice(at) : NOTHING;
  }

  #read(bytes: Uint8Array, at: number): void {
    const flags = bytes[at + 1] ?? 0;
    const control = bytes[at + 3] ?? 0;
    const hasField = (control & 0x20) !== 0;
    if ((flags & DAMAGED) !== 0 || (control & SCRAMBLED) !== 0 || (control & 0x10) === 0) return;
    const fieldBytes = hasField ? (bytes[at + HEAD_BYTES] ?? 0) : 0;
    const start = at + HEAD_BYTES + (hasField ? 1 + fieldBytes : 0);
    const end = at + TS_PACKET_BYTES;
    if (start >= end) return;
    const payload = this.#payload;
    payload.pid = ((flags & 0x1f) << 8) | (bytes[at + 2] ?? 0);
    payload.isStart = (flags & 0x40) !== 0;
    payload.continuity = control & 15;
    payload.isDiscontinuity = fieldBytes > 0 && ((bytes[at + HEAD_BYTES + 1] ?? 0) & 0x80) !== 0;
    payload.bytes = bytes;
    payload.start = start;
    payload.end = end;
    this.#take(payload);
  }
}

/** The first sync byte that another one follows a packet later, as far as `bytes` go. */
function findSync(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(SYNC, from); at >= 0; at = bytes.indexOf(SYNC, at + 1)) {
    const next = at + TS_PACKET_BYTES;
    if (next >= bytes.length || bytes[next] === SYNC) return at;
  }
  return bytes.length;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
