const WRAP = 0x1_0000_0000;
const SHORT_WRAP = 0x8000_0000;

/**
 * Unwraps RTMP's 32-bit millisecond timestamps by the nearest delta, once for all tracks of a publisher. Senders that count with 31 bits
 * only are followed as well: a step back by about 2^31 is their wrap.
 */
export class RtmpClock {
  #last: number | null = null;

  /** Milliseconds that neither wrap nor are bounded by 32 bits. */
  unwrap(timestamp: number): number {
    const last = this.#last;
    if (last === null) {
      this.#last = timestamp;
      return timestamp;
    }
    let step = (((timestamp - last) % WRAP) + WRAP) % WRAP;
    if (step >= WRAP / 2) step -= WRAP;
    if (step < 0 && Math.abs(step + SHORT_WRAP) < -step) {
      if (Math.abs(step + SHORT_WRAP) < SHORT_WRAP / 1024) step += SHORT_WRAP;
    }
    this.#last = last + step;
    return this.#last;
  }
}
