/**
 * Unwraps RTMP's millisecond timestamps to the nearest value, on one clock for all tracks of a publisher. Senders wrap at 32 or at 31 bits: modulo
 * 2^31 both look the same, at the price that a jump of more than 12 days is misread.
 */
export class RtmpClock {
  #last: number | null = null;

  /** Milliseconds without wraps. */
  unwrap(timestamp: number): number {
    const last = this.#last ?? timestamp;
    this.#last = last + (((timestamp - last) << 1) >> 1);
    return this.#last;
  }
}
