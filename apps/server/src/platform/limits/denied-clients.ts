import type { Clock } from "../clock.ts";
import { RateLimit } from "../http/rate-limit.ts";
import { Places } from "./places.ts";

const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const MAX_CLIENTS = 10_000;

export interface DeniedClientsSettings {
  readonly clock: Clock;
  /** Denials of one client in a minute that slow nothing down. */
  readonly deniedPerMinute: number;
  /** Questions of one client that may be open at a time. */
  readonly atOnce: number;
  /** The same for a client that was denied more often, and how many it may ask in a second. */
  readonly slowed: { readonly atOnce: number; readonly perSecond: number };
}

/**
 * Slows down clients that are denied again and again, such as one that guesses keys or playback ids, so that their questions take neither the
 * database nor the customers' webhooks from others. Every denial counts alike, and every question that is not asked is answered alike.
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

  /** The answer to `ask`, or "too-many" where the client has to wait with it. */
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
