import type { Clock } from "../clock.ts";
import { Places } from "./places.ts";
import { RateLimit } from "./rate-limit.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_CLIENTS = 10_000;

export interface DeniedClientsSettings {
  readonly clock: Clock;
  /** Denials per client and minute that have no consequence. */
  readonly deniedPerMinute: number;
  /** Concurrent questions per client. */
  readonly atOnce: number;
  /** The same for a client that was denied more often, and its questions per second. */
  readonly slowed: { readonly atOnce: number; readonly perSecond: number };
}

/**
 * Slows down clients that are denied repeatedly, for example because they guess keys or playback ids, so that their questions take neither the
 * database nor the customers' webhooks from others. Every denial counts the same, and every question that is not asked gets the same answer.
 */
export class DeniedClients {
  readonly #denied: RateLimit;
  readonly #asked: RateLimit;
  readonly #asking: Places;
  readonly #askingSlowed: Places;

  constructor({ clock, deniedPerMinute, atOnce, slowed }: DeniedClientsSettings) {
    this.#denied = new RateLimit({ clock, quota: deniedPerMinute, windowMs: MINUTE_MS });
    this.#asked = new RateLimit({ clock, quota: slowed.perSecond, windowMs: SECOND_MS });
    this.#asking = new Places({ inAll: MAX_CLIENTS * atOnce, perHolder: atOnce });
    this.#askingSlowed = new Places({ inAll: MAX_CLIENTS, perHolder: slowed.atOnce });
  }

  /** The answer to `ask`, or "too-many" if the client has to wait. */
  async ask<Answer>(client: string, ask: () => Promise<Answer | "denied">): Promise<Answer | "denied" | "too-many"> {
    const isSlowed = this.#denied.isUsedUp(client);
    if (isSlowed && this.#asked.isUsedUp(client)) return "too-many";
    const places = isSlowed ? this.#askingSlowed : this.#asking;
    if (!places.take(client)) return "too-many";
    try {
      if (isSlowed) this.#asked.take(client);
      const answer = await ask();
      if (answer === "denied") this.#denied.take(client);
      return answer;
    } finally {
      places.giveBack(client);
    }
  }
}
