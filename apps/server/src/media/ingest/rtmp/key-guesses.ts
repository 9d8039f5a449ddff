import type { Clock } from "../../../platform/clock.ts";

const MAX_WRONG = 20;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** Counts wrong stream keys per address, so that keys cannot be tried out: 20 a minute. */
export class KeyGuesses {
  readonly #clock: Clock;
  #wrong = new Map<string, number>();
  #since: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  wrong(address: string): void {
    this.#forgetOld();
    if (this.#wrong.size < MAX_ADDRESSES || this.#wrong.has(address))
      this.#wrong.set(address, (this.#wrong.get(address) ?? 0) + 1);
  }

  isTooMany(address: string): boolean {
    this.#forgetOld();
    return (this.#wrong.get(address) ?? 0) >= MAX_WRONG;
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic();
    if (now - this.#since < WINDOW_MS) return;
    this.#since = now;
    this.#wrong = new Map();
  }
}
