import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";

const MAX_NAMES = 10_000;

/** Rate limiter for notes on events that can happen thousands of times a second: tells which names are due for another note. */
export class SparseNotes {
  readonly #clock: Clock;
  readonly #everyMs: number;
  /** When each name was last noted, by the monotonic clock. */
  readonly #notedAt = new LRUCache<string, number>({ max: MAX_NAMES });

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  isDue(name: string): boolean {
    const at = this.#clock.monotonic();
    const notedAt = this.#notedAt.get(name);
    if (notedAt !== undefined && at - notedAt < this.#everyMs) return false;
    this.#notedAt.set(name, at);
    return true;
  }
}
