import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/http/rate-limit.ts";
import type { PublishDecision } from "../../ports/index.ts";

/** Wrong keys of one client within a minute that cost it nothing: more than a slip, or a few encoders with an old key. */
const MAX_WRONG = 20;
const WINDOW_MS = 60_000;
/** Beyond it, how late the client hears that a key is wrong. */
const WRONG_ANSWER_MS = 3_000;
/** Keys that were right lately. */
const MAX_RIGHT = 10_000;

export interface KeyQuestion {
  /** Null for one that is not held to any limit. */
  readonly client: string | null;
  readonly streamKey: string;
  /** False once nobody waits for the answer. */
  readonly isWanted: () => boolean;
  readonly authorize: () => Promise<PublishDecision>;
}

/**
 * Slows down who tries stream keys out, and lets a right key in at any time: many broadcasters may share one address with one that guesses, or
 * with one encoder that has an old key and tries for ever.
 *
 * A client with more than 20 wrong keys a minute has its keys looked up one after the other, and is told late that one is wrong; a right
 * one is let in as soon as it is looked up, and one that was right lately waits for nobody. Wrong and suspended keys are treated alike.
 */
export class KeyCheck {
  readonly #clock: Clock;
  readonly #wrong: RateLimit;
  /** Hashes. */
  readonly #right = new LRUCache<string, true>({ max: MAX_RIGHT });
  /** The last look-up of each client that has to wait in line. Bounded by the connections that wait. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wrong = new RateLimit({ clock, quota: MAX_WRONG, windowMs: WINDOW_MS });
  }

  /** The gate's answer; null when nobody wants it any more. */
  async ask(question: KeyQuestion): Promise<PublishDecision | null> {
    const { client, streamKey, authorize } = question;
    const name = hash("sha256", streamKey, "base64url");
    const isSlow = client !== null && this.#wrong.isUsedUp(client) && !this.#right.has(name);
    const decision = isSlow ? await this.#inLine(client, question) : await authorize();
    if (decision?.ok) this.#right.set(name, true);
    else if (decision?.reason === "unknown-key" || decision?.reason === "suspended") {
      this.#right.delete(name);
      if (client !== null) this.#wrong.take(client);
      if (isSlow) await new Promise<void>((resolve) => this.#clock.after(WRONG_ANSWER_MS, resolve));
    }
    return decision;
  }

  async #inLine(client: string, { isWanted, authorize }: KeyQuestion): Promise<PublishDecision | null> {
    const before = this.#lines.get(client);
    const turn = (async () => {
      await before?.catch(() => {}); // its own caller hears of it
      return isWanted() ? authorize() : null;
    })();
    this.#lines.set(client, turn);
    try {
      return await turn;
    } finally {
      if (this.#lines.get(client) === turn) this.#lines.delete(client);
    }
  }
}
