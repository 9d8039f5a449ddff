/** A working child reports twice a second, on a loaded machine less often. */
const MAX_SILENCE_MS = 4000;
/** After each child that was replaced without a success, the next one gets twice the time, so that a slow machine does not kill them all. */
const MAX_DOUBLINGS = 2;
/** Time in which nothing was sent counts at most this much, because a child without work is silent. */
const LONGEST_STEP_MS = 1000;

/** How long a child with work has given no sign of life. */
export class ChildSilence {
  readonly maxMs: number;
  #silentMs = 0;
  #at: number | null = null;

  /** `failures`: earlier children that produced nothing. */
  constructor(failures: number) {
    this.maxMs = MAX_SILENCE_MS * 2 ** Math.min(failures, MAX_DOUBLINGS);
  }

  /** The child reported something. */
  heard(): void {
    this.#silentMs = 0;
  }

  /** The child gets work now, or has too much to get more. Returns true if it has been silent for too long. */
  hasWork(now: number): boolean {
    if (this.#at !== null) this.#silentMs += Math.min(now - this.#at, LONGEST_STEP_MS);
    this.#at = now;
    return this.#silentMs >= this.maxMs;
  }
}
