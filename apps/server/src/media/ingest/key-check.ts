import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { PublishDecision } from "../../ports/index.ts";

/** Wrong keys per client and minute before the client is slowed down: enough for typing errors, or a few encoders with an old key. */
const MAX_WRONG = 20;
const WINDOW_MS = 60_000;
/** Delay of the refusal of a wrong key from a slowed-down client. */
const WRONG_ANSWER_MS = 3_000;
/** Number of recently valid keys remembered. */
const MAX_RIGHT = 10_000;

export interface KeyQuestion {
  /** Null for a client without a limit. */
  readonly client: string | null;
  readonly streamKey: string;
  /** False once the connection has closed. */
  readonly isWanted: () => boolean;
  readonly authorize: () => Promise<PublishDecision>;
}

/**
 * Slows down clients that guess stream keys, but accepts a valid key at any time: many broadcasters may share an IP address with a guesser, or with
 * an encoder that keeps retrying an old key.
 *
 * For a client with more than 20 wrong keys per minute, keys are looked up one at a time, and refusals are delayed. A valid key is accepted as soon
 * as it was looked up, and a recently valid one skips the line. Wrong and suspended keys are treated alike.
 */
export class KeyCheck {
  readonly #clock: Clock;
  readonly #wrong: RateLimit;
  /** Hashes of recently valid keys. */
  readonly #right = new LRUCache<string, true>({ max: MAX_RIGHT });
  /** The last look-up of each slowed-down client. Bounded by the number of waiting connections. */
  readonly #lines = new Map<string, Promise<unknown>>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wrong = new RateLimit({ clock, quota: MAX_WRONG, windowMs: WINDOW_MS });
  }

  /** The gate's decision; null if the connection closed in the meantime. */
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
      await before?.catch(() => {}); // reported to its own caller
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
