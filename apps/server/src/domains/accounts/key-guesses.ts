import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { DeniedClients } from "../../platform/limits/denied-clients.ts";
import { hashSecret } from "./api-key.ts";

/**
 * Wrong keys and cookies per client and minute: far above an honest mistake, far below what a search needs. Beyond it the client's keys are
 * looked up slowly, so that a correct one eventually gets in and the database hardly notices.
 */
const LIMITS = { deniedPerMinute: 60, atOnce: 100, slowed: { atOnce: 4, perSecond: 10 } } as const;
/** Recently correct keys; they stay valid for a client from which others are guessing. */
const MAX_RIGHT = 10_000;

/** Stops a client from guessing keys, without locking out others at the same address who have a correct one. */
export class KeyGuesses {
  readonly #denied: DeniedClients;
  readonly #right = new LRUCache<string, true>({ max: MAX_RIGHT });

  constructor(clock: Clock) {
    this.#denied = new DeniedClients({ clock, ...LIMITS });
  }

  /** The result of `find` for this secret; "too-many" if it must not be looked up now. */
  async look<Found extends object>(
    address: string,
    secret: string,
    find: () => Promise<Found | null>,
  ): Promise<Found | "denied" | "too-many"> {
    const name = nameOf(secret);
    const look = async () => (await find()) ?? "denied";
    const found = this.#right.get(name) ? await look() : await this.#denied.ask(clientOf(address), look);
    if (found === "denied") this.#right.delete(name);
    else if (found !== "too-many") this.#right.set(name, true);
    return found;
  }

  /** A secret that was just issued. */
  wasGiven(secret: string): void {
    this.#right.set(nameOf(secret), true);
  }
}

const nameOf = (secret: string): string => hashSecret(secret).toString("base64");
