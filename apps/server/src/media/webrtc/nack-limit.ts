/**
 * Packets per second that a viewer may request again (NACK). The library sends each packet as often as it is requested, so a few hundred bytes can
 * make it send megabytes. A browser that misses 1,000 packets requests a keyframe instead; one that loses a third of 16 Mbit/s, and requests each
 * packet five times, stays below the limit.
 */
const MAX_A_SECOND = 4_000;
/** Packets requested in one message. */
const MAX_AT_ONCE = 2_000;
const WINDOW_MS = 1_000;

/** Counts and limits the packets that one viewer requests again. */
export class NackLimit {
  #total = 0;
  #inWindow = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** Packets since the viewer joined. */
  get total(): number {
    return this.#total;
  }

  /** Adds packets at `now`, in milliseconds. False above the limit, which no player needs to reach. */
  add(packets: number, now: number): boolean {
    this.#total += packets;
    if (now - this.#since >= WINDOW_MS) {
      this.#since = now;
      this.#inWindow = 0;
    }
    this.#inWindow += packets;
    return packets <= MAX_AT_ONCE && this.#inWindow <= MAX_A_SECOND;
  }
}
