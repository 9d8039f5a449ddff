export const TS_PACKET_BYTES = 188;
const SYNC = 0x47;
const HEAD_BYTES = 4;
/** Bytes after the packet header: payload, an adaptation field, or both. */
export const PACKET_BODY_BYTES = TS_PACKET_BYTES - HEAD_BYTES;
/** Size of an adaptation field with flags only, and with a clock reference. */
const FLAGS_BYTES = 2;
const CLOCK_BYTES = 8;
const RANDOM_ACCESS = 0x40;
const HAS_CLOCK = 0x10;
const STUFFING = 0xff;

/** The content of an adaptation field. */
export interface Adaptation {
  /** Decoding can start here. */
  readonly isRandomAccess: boolean;
  /** The program clock in 90 kHz ticks; null for none. */
  readonly clockTicks: number | null;
}

export const NO_ADAPTATION: Adaptation = { isRandomAccess: false, clockTicks: null };

/** Writes the packets of one PID with their continuity counter (ISO/IEC 13818-1 2.4.3). */
export class TsPid {
  readonly #pid: number;
  #next = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Writes the first `bytes` bytes of `payload` into `out` as packets. Returns the end offset. */
  put(out: Uint8Array, from: number, payload: Uint8Array, bytes: number, adaptation = NO_ADAPTATION): number {
    let at = from;
    for (let done = 0; done < bytes; at += TS_PACKET_BYTES) {
      const asked = done === 0 ? adaptationBytes(adaptation) : 0;
      const taken = Math.min(PACKET_BODY_BYTES - asked, bytes - done);
      const field = PACKET_BODY_BYTES - taken;
      this.#putHead(out, at, done === 0, field > 0 ? 3 : 1);
      this.#next = (this.#next + 1) & 15;
      if (field > 0) putAdaptation(out, at + HEAD_BYTES, field, done === 0 ? adaptation : NO_ADAPTATION);
      out.set(payload.subarray(done, done + taken), at + HEAD_BYTES + field);
      done += taken;
    }
    return at;
  }

  /** Writes a packet with only a clock reference. */
  putClock(out: Uint8Array, at: number, clockTicks: number): number {
    // A packet without payload repeats the previous continuity counter.
    this.#next = (this.#next + 15) & 15;
    this.#putHead(out, at, false, 2);
    this.#next = (this.#next + 1) & 15;
    putAdaptation(out, at + HEAD_BYTES, PACKET_BODY_BYTES, { isRandomAccess: false, clockTicks });
    return at + TS_PACKET_BYTES;
  }

  #putHead(out: Uint8Array, at: number, isStart: boolean, control: number): void {
    out[at] = SYNC;
    out[at + 1] = (isStart ? 0x40 : 0) | (this.#pid >> 8);
    out[at + 2] = this.#pid;
    out[at + 3] = (control << 4) | this.#next;
  }
}

/** Number of bytes that `put` writes. */
export const packetsBytes = (bytes: number, adaptation: Adaptation): number =>
  Math.ceil((bytes + adaptationBytes(adaptation)) / PACKET_BODY_BYTES) * TS_PACKET_BYTES;

function adaptationBytes({ isRandomAccess, clockTicks }: Adaptation): number {
  if (clockTicks !== null) return CLOCK_BYTES;
  return isRandomAccess ? FLAGS_BYTES : 0;
}

/** `bytes` is the size of the whole field, including stuffing. */
function putAdaptation(out: Uint8Array, at: number, bytes: number, { isRandomAccess, clockTicks }: Adaptation): void {
  out[at] = bytes - 1;
  if (bytes === 1) return;
  out[at + 1] = (isRandomAccess ? RANDOM_ACCESS : 0) | (clockTicks === null ? 0 : HAS_CLOCK);
  if (clockTicks !== null) putClockReference(out, at + FLAGS_BYTES, clockTicks);
  out.fill(STUFFING, at + (clockTicks === null ? FLAGS_BYTES : CLOCK_BYTES), at + bytes);
}

/** program_clock_reference: 33 bits at 90 kHz, and an extension at 27 MHz that is always 0 (2.4.3.5). */
function putClockReference(out: Uint8Array, at: number, ticks: number): void {
  const high = Math.floor(ticks / 2) % 2 ** 32;
  out[at] = high >>> 24;
  out[at + 1] = high >>> 16;
  out[at + 2] = high >>> 8;
  out[at + 3] = high;
  out[at + 4] = ((ticks % 2) << 7) | 0x7e;
  out[at + 5] = 0;
}
