/**
 * Unwraps RTMP's millisecond timestamps by the nearest delta, once for all tracks of a publisher. Senders count with 32 bits or with 31:
 * modulo 2^31 both wraps look alike, and only a jump of more than 12 days is taken for another.
 */
export class RtmpClock {
  #last: number | null = null;

  /** Milliseconds that neither wrap nor are bounded by 32 bits. */
  unwrap(timestamp: number): number {
    const last = this.#last ?? timestamp;
    this.#last = last + (((timestamp - last) << 1) >> 1);
    return this.#last;
  }
}
