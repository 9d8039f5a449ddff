import type { Clock } from "../../../platform/clock.ts";
import { RateLimit } from "../../../platform/http/rate-limit.ts";
import { Places } from "../../../platform/limits/places.ts";

/** Beyond it nobody new is counted; everybody watches. */
const MAX_WATCHING = 100_000;
const MINUTE_MS = 60_000;

/**
 * How many viewers are counted. A player names itself (`tkn`, the browser's name), so one client can pretend to be any number of viewers:
 * it is counted as so many at a time, and begins as many in a minute, at most.
 */
export class ViewerPlaces {
  readonly #watching: Places;
  readonly #begun: RateLimit;

  constructor(clock: Clock, perClient: number) {
    this.#watching = new Places({ inAll: MAX_WATCHING, perHolder: perClient });
    this.#begun = new RateLimit({ clock, quota: perClient, windowMs: MINUTE_MS });
  }

  /** `isNew`: this one was counted nowhere yet. */
  take(client: string, isNew: boolean): boolean {
    if (isNew && this.#begun.isUsedUp(client)) return false;
    if (!this.#watching.take(client)) return false;
    if (isNew) this.#begun.take(client);
    return true;
  }

  giveBack(client: string): void {
    this.#watching.giveBack(client);
  }
}
