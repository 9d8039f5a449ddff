/** A child that works says so twice a second; on a loaded machine, once in a while. */
const MAX_SILENCE_MS = 4000;
/** After each child that was replaced without a success the next one is given twice as long, so that a slow machine does not kill them all. */
const MAX_DOUBLINGS = 2;
/** Time in which nothing was sent counts for no more than this: a child with nothing to do is silent. */
const LONGEST_STEP_MS = 1000;

/** How long a child has given no sign of life while it had work. */
export class ChildSilence {
  readonly maxMs: number;
  #silentMs = 0;
  #at: number | null = null;

  /** `failures`: children before this one that made nothing. */
  constructor(failures: number) {
    this.maxMs = MAX_SILENCE_MS * 2 ** Math.min(failures, MAX_DOUBLINGS);
  }

  /** The child said something. */
  heard(): void {
    this.#silentMs = 0;
  }

  /** The child is given work now, or has too much to be given more; true when it has been silent for too long. */
  hasWork(now: number): boolean {
    if (this.#at !== null) this.#silentMs += Math.min(now - this.#at, LONGEST_STEP_MS);
    this.#at = now;
    return this.#silentMs >= this.maxMs;
  }
}
