import { LRUCache } from "lru-cache";
import type { Clock } from "../platform/clock.ts";
import { DatabaseAway } from "../platform/database-away.ts";
import { DecisionCache } from "./decision-cache.ts";

/** How long a value is valid without the database: long enough for a fail-over or a restart. */
const VALID_MS = 5 * 60_000;
/** A database slower than this counts as unavailable. */
const PATIENCE_MS = 1_000;

interface Known<Value> {
  readonly value: Value;
  readonly readAt: number;
}

interface Look<Value> {
  readonly answer: Promise<Value | undefined>;
  readonly begunAt: number;
}

export interface LastingAnswersSettings {
  /** An answer of the database is not asked for again for this long. */
  readonly freshMs: number;
  readonly capacity: number;
}

/**
 * Short-lived answers of the database that last while the database is unavailable: the last one is then valid for five minutes. Evicted answers
 * and "not found" do not last.
 */
export class LastingAnswers<Value> {
  readonly #clock: Clock;
  readonly #fresh: DecisionCache<Value | undefined>;
  readonly #known: LRUCache<string, Known<Value>>;
  /** Pending questions to the database, one for all callers. */
  readonly #looks = new Map<string, Look<Value>>();

  constructor(clock: Clock, { freshMs, capacity }: LastingAnswersSettings) {
    this.#clock = clock;
    this.#fresh = new DecisionCache(clock, freshMs, capacity);
    this.#known = new LRUCache({ max: capacity });
  }

  /** Rejects with `DatabaseAway` if the database does not answer and no answer is valid. */
  get(key: string, ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
    return this.#fresh.get(key, () => this.#lasting(key, ask));
  }

  /** Something may have changed, about this key alone if one is given: the next question is asked again, and no answer lasts. */
  forget(key: string | "all"): void {
    if (key === "all") this.#fresh.clear();
    else this.#fresh.forget(key);
    this.#known.clear();
    this.#looks.clear();
  }

  #lasting(key: string, ask: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const { answer, begunAt } = this.#looks.get(key) ?? this.#look(key, ask);
    const known = this.#known.get(key);
    const now = this.#clock.monotonic();
    if (!known || now >= known.readAt + VALID_MS) return answer;
    if (now >= begunAt + PATIENCE_MS) return Promise.resolve(known.value);
    return new Promise((resolve, reject) => {
      // An answer evicted in the meantime is no longer valid.
      const stands = () => this.#known.peek(key) === known;
      const patience = this.#clock.after(begunAt + PATIENCE_MS - now, () => stands() && resolve(known.value));
      answer.then(
        (value) => {
          patience.cancel();
          resolve(value);
        },
        (error: unknown) => {
          patience.cancel();
          if (error instanceof DatabaseAway && stands()) resolve(known.value);
          else reject(error);
        },
      );
    });
  }

  #look(key: string, ask: () => Promise<Value | undefined>): Look<Value> {
    const look: Look<Value> = { answer: ask(), begunAt: this.#clock.monotonic() };
    this.#looks.set(key, look);
    // An answer to a question from before a change is not stored.
    const isCurrent = () => this.#looks.get(key) === look && this.#looks.delete(key);
    look.answer.then(
      (value) => isCurrent() && this.#keep(key, value),
      () => isCurrent(),
    );
    return look;
  }

  #keep(key: string, value: Value | undefined): void {
    if (value === undefined) this.#known.delete(key);
    else this.#known.set(key, { value, readAt: this.#clock.monotonic() });
  }
}
