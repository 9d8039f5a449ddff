import { LRUCache } from "lru-cache";
import type { Clock } from "../platform/clock.ts";

interface Entry<Value> {
  readonly value: Promise<Value>;
  readonly until: number;
}

/** A small cache of short-lived answers. Concurrent questions share one answer; failures are not cached. */
export class DecisionCache<Value> {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #entries: LRUCache<string, Entry<Value>>;

  constructor(clock: Clock, ttlMs: number, capacity: number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({ max: capacity });
  }

  get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const now = this.#clock.monotonic();
    const known = this.#entries.get(key);
    if (known && known.until > now) return known.value;
    const entry = { value: ask(), until: now + this.#ttlMs };
    this.#entries.set(key, entry);
    entry.value.catch(() => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key);
    });
    return entry.value;
  }

  /** The next question is asked again. A question already waiting gets the answer it asked for. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
