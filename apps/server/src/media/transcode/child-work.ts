/** A working child reports several times a second, on a loaded machine less often. */
const MAX_STILL_MS = 4000;
/** After each child that was replaced without a success, the next one gets twice the time, so that a slow machine does not kill them all. */
const MAX_DOUBLINGS = 2;
/** Loading its libraries takes half a second of CPU, which a slow machine gives it in many seconds. */
const MAX_LOADING_MS = 16_000;
/** Time in which no media arrived counts at most this much. */
const LONGEST_STEP_MS = 1000;

/**
 * The media that one child was given, and how much of it the child has worked off. Anything else that a child says is no progress: one that
 * acknowledges everything and encodes nothing is as stuck as one that says nothing.
 */
export class ChildWork {
  readonly #patienceMs: number;
  /** When each packet that is not worked off was given, oldest first, on the monotonic clock. */
  readonly #givenAt: number[] = [];
  #given = 0;
  /** Time that the child has spent with its work. */
  busyMs = 0;
  #stillMs = 0;
  #arrivedAt: number | null = null;
  /** When media first found the child loaded; null before. */
  #loadedAt: number | null = null;

  /** `failures`: earlier children that produced nothing. */
  constructor(failures: number) {
    this.#patienceMs = MAX_STILL_MS * 2 ** Math.min(failures, MAX_DOUBLINGS);
  }

  /** The age of the oldest packet that is not worked off; 0 without one. */
  lagMs(now: number): number {
    const [oldest] = this.#givenAt;
    return oldest === undefined ? 0 : Math.max(0, Math.round(now - oldest));
  }

  /**
   * How long the oldest packet that is not worked off has waited for a loaded child. A child that still loads is not too slow: it works off
   * what waited for it faster than it comes.
   */
  overdueMs(now: number): number {
    return this.#loadedAt === null ? 0 : Math.min(this.lagMs(now), Math.round(now - this.#loadedAt));
  }

  given(now: number): void {
    this.#given++;
    this.#givenAt.push(now);
  }

  /** The child reports how many packets it has worked off, and the time that it took. */
  reported(packets: number, busyMs: number): void {
    this.busyMs = busyMs;
    const isProgress = this.#given - packets < this.#givenAt.length;
    if (!isProgress) return;
    this.#givenAt.splice(0, this.#givenAt.length - Math.max(0, this.#given - packets));
    this.#stillMs = 0;
  }

  /** Media arrives, whether the child is given it or not. Returns a sentence if the child has work and made no progress for too long. */
  mediaArrived(now: number, isLoaded: boolean): string | null {
    if (this.#arrivedAt !== null && this.#givenAt.length > 0)
      this.#stillMs += Math.min(now - this.#arrivedAt, LONGEST_STEP_MS);
    this.#arrivedAt = now;
    if (isLoaded) this.#loadedAt ??= now;
    const maxMs = isLoaded ? this.#patienceMs : Math.max(this.#patienceMs, MAX_LOADING_MS);
    return this.#stillMs < maxMs ? null : `The transcoder made no progress for ${maxMs / 1000} s.`;
  }
}
