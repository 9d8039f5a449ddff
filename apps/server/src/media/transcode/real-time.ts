import type { Clock } from "../../platform/clock.ts";

/** Waits until `ms` milliseconds after its making have passed; a caller that is late goes on at once. */
export class RealTime {
  readonly #clock: Clock;
  readonly #start: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#start = clock.monotonic();
  }

  async until(ms: number): Promise<void> {
    const wait = this.#start + ms - this.#clock.monotonic();
    if (wait > 0) await new Promise<void>((resolve) => this.#clock.after(wait, resolve));
  }
}
