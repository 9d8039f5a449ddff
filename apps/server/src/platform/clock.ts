/** Time as a parameter. Nothing outside this file reads the system's clocks, so that a test can run 50 days in a second. */

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, in milliseconds since the Unix epoch. It may jump. For times that people and other systems see. */
  now(): number;
  /** Monotonic milliseconds, for durations, deadlines and rates. */
  monotonic(): number;
  /** Run `action` once, `ms` from now. Does not keep the process alive. */
  after(ms: number, action: () => void): Timer;
  /** Run `action` every `ms`. Does not keep the process alive. */
  every(ms: number, action: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, action) {
    const handle = setTimeout(action, ms).unref();
    return { cancel: () => clearTimeout(handle) };
  },
  every(ms, action) {
    const handle = setInterval(action, ms).unref();
    return { cancel: () => clearInterval(handle) };
  },
};

/** Machines whose clocks are kept by NTP are closer together. */
const SAME_TIME_MS = 500;
/** An answer that took longer says too little. */
const MAX_ASKED_MS = 1_000;

/**
 * A wall clock that follows the database's, so that processes whose machines disagree still agree on deadlines. Between two answers of the database it goes on
 * with the monotonic clock where the machine's wall clock steps: a step would let deadlines pass that have not come.
 */
export class DatabaseClock implements Clock {
  readonly #base: Clock;
  #aheadMs = 0;
  /** The wall clock over the monotonic one, when the database last gave its time; null before. */
  #wallOverMonotonic: number | null = null;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): number {
    return this.#base.now() + this.#aheadMs - this.#steppedMs();
  }

  monotonic(): number {
    return this.#base.monotonic();
  }

  after(ms: number, action: () => void): Timer {
    return this.#base.after(ms, action);
  }

  every(ms: number, action: () => void): Timer {
    return this.#base.every(ms, action);
  }

  /** The database gave its time in an answer to what was asked at `askedAt`, on the monotonic clock. Returns how far it is ahead of the machine's. */
  follow(databaseNow: number, askedAt: number): number {
    const tookMs = this.#base.monotonic() - askedAt;
    if (tookMs > MAX_ASKED_MS) return this.#aheadMs;
    this.#wallOverMonotonic = this.#base.now() - this.#base.monotonic();
    const aheadMs = Math.round(databaseNow + tookMs / 2 - this.#base.now());
    // Not at every difference, or times of events would jump with each.
    if (Math.abs(aheadMs - this.#aheadMs) > SAME_TIME_MS)
      this.#aheadMs = Math.abs(aheadMs) > SAME_TIME_MS ? aheadMs : 0;
    return aheadMs;
  }

  /** How far the machine's wall clock has been set since then. */
  #steppedMs(): number {
    if (this.#wallOverMonotonic === null) return 0;
    const ms = Math.round(this.#base.now() - this.#base.monotonic() - this.#wallOverMonotonic);
    return Math.abs(ms) > SAME_TIME_MS ? ms : 0;
  }
}
