import type { Clock } from "./clock.ts";

/** Waits between attempts: each is twice the previous one, up to a limit. */
export class BackOff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#nextMs = firstMs;
  }

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const wait = this.#nextMs;
    this.#nextMs = Math.min(wait * 2, this.#maxMs);
    return wait;
  }

  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}

export function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}

/** True as soon as `condition` holds, false if it does not within `withinMs`. Checks every 20 ms. */
export async function until(clock: Clock, withinMs: number, condition: () => boolean): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  while (!condition()) {
    if (clock.monotonic() >= deadline) return false;
    await sleep(clock, 20);
  }
  return true;
}
