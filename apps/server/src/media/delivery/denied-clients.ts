import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/http/rate-limit.ts";
import { Places } from "../../platform/limits/places.ts";

/** Denials of one client in a minute that slow nothing down: many viewers behind one address may come too early. */
const MAX_DENIED = 600;
const MINUTE_MS = 60_000;
/** Beyond them: questions of the client at a time, and in a second. */
const MAX_ASKING = 8;
const MAX_ASKED_PER_SECOND = 50;
const MAX_CLIENTS = 10_000;

/**
 * Slows down clients that are denied again and again, such as one that tries playback ids out, so that their questions take neither the database nor
 * the customers' webhooks from others. Every denial counts alike and every question that is not asked is answered alike, whether the id
 * exists or not.
 */
export class DeniedClients {
  readonly #denied: RateLimit;
  readonly #asked: RateLimit;
  readonly #asking = new Places({ inAll: MAX_CLIENTS, perHolder: MAX_ASKING });

  constructor(clock: Clock) {
    this.#denied = new RateLimit({ clock, quota: MAX_DENIED, windowMs: MINUTE_MS });
    this.#asked = new RateLimit({ clock, quota: MAX_ASKED_PER_SECOND, windowMs: 1_000 });
  }

  /** The answer to `ask`, or "too-many" where the client has to wait with it. */
  async ask<Answer>(client: string, ask: () => Promise<Answer | "denied">): Promise<Answer | "denied" | "too-many"> {
    const isSlow = this.#denied.isUsedUp(client);
    if (isSlow && (this.#asked.isUsedUp(client) || !this.#asking.take(client))) return "too-many";
    try {
      if (isSlow) this.#asked.take(client);
      const answer = await ask();
      if (answer === "denied") this.#denied.take(client);
      return answer;
    } finally {
      if (isSlow) this.#asking.giveBack(client);
    }
  }
}
