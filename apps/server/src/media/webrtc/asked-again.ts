/**
 * Packets that a viewer may ask for again in a second: the library sends each as often as it is asked for, so a few hundred bytes can make it
 * send megabytes. A browser that misses 1,000 packets asks for a keyframe instead; one that loses a third of 16 Mbit/s, and asks for each
 * packet five times, stays below.
 */
const MAX_A_SECOND = 4_000;
/** In one message. */
const MAX_AT_ONCE = 2_000;
const WINDOW_MS = 1_000;

/** Counts the packets that one viewer asks for again. */
export class AskedAgain {
  #total = 0;
  #inWindow = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** Since the viewer came. */
  get total(): number {
    return this.#total;
  }

  /** So many more, at `now` in milliseconds. False where they are more than any player needs. */
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
