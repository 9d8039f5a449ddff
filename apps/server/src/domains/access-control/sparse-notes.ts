import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";

const MAX_NAMES = 10_000;

/** What may happen thousands of times a second and needs to be noted once in a while: says for which names it is time again. */
export class SparseNotes {
  readonly #clock: Clock;
  readonly #everyMs: number;
  /** When each was noted last, by the monotonic clock. */
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
