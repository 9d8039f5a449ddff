import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/http/rate-limit.ts";
import { hashSecret } from "./api-key.ts";

/** Wrong keys and cookies of one address within a minute: far beyond a slip, far below what a search needs. */
const WRONG_KEYS = 60;
const MINUTE_MS = 60_000;
/** Keys that were right lately; they are taken from an address that others guess from as well. */
const MOST_RIGHT = 10_000;

/** Keeps an address from trying out keys, without shutting out who shares it and has a right one. */
export class KeyGuesses {
  readonly #wrong: RateLimit;
  readonly #right = new Set<string>();

  constructor(clock: Clock) {
    this.#wrong = new RateLimit({ clock, quota: WRONG_KEYS, windowMs: MINUTE_MS });
  }

  /** Whether this secret is worth a look into the database. */
  mayTry(address: string, secret: string): boolean {
    return !this.#wrong.isUsedUp(address) || this.#right.has(nameOf(secret));
  }

  wasWrong(address: string): void {
    this.#wrong.take(address);
  }

  wasRight(secret: string): void {
    const name = nameOf(secret);
    if (this.#right.has(name)) return;
    const [oldest] = this.#right.size < MOST_RIGHT ? [] : this.#right;
    if (oldest !== undefined) this.#right.delete(oldest);
    this.#right.add(name);
  }
}

const nameOf = (secret: string): string => hashSecret(secret).toString("base64");
