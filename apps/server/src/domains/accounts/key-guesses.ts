import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { clientOf } from "../../platform/limits/client.ts";
import { DeniedClients } from "../../platform/limits/denied-clients.ts";
import { hashSecret } from "./api-key.ts";

/**
 * Wrong keys and cookies of one client within a minute: far beyond a slip, far below what a search needs. Beyond them the client's keys are
 * looked up slowly, so that a right one gets in sooner or later, and the database hardly notices.
 */
const LIMITS = { deniedPerMinute: 60, atOnce: 100, slowed: { atOnce: 4, perSecond: 10 } } as const;
/** Keys that were right lately; they are taken from a client that others guess from as well. */
const MAX_RIGHT = 10_000;

/** Keeps a client from trying out keys, without shutting out who shares its address and has a right one. */
export class KeyGuesses {
  readonly #denied: DeniedClients;
  readonly #right = new LRUCache<string, true>({ max: MAX_RIGHT });

  constructor(clock: Clock) {
    this.#denied = new DeniedClients({ clock, ...LIMITS });
  }

  /** The result of `find` for this secret; "too-many" where it may not be looked up now. */
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

  /** A secret that was just given out. */
  wasGiven(secret: string): void {
    this.#right.set(nameOf(secret), true);
  }
}

const nameOf = (secret: string): string => hashSecret(secret).toString("base64");
