import type { Clock } from "../../../platform/clock.ts";
import { Places } from "../../../platform/limits/places.ts";
import { RateLimit } from "../../../platform/limits/rate-limit.ts";

/** Beyond this, new viewers are not counted, but can watch. */
const MAX_WATCHING = 100_000;
const MINUTE_MS = 60_000;

/**
 * Limits how many viewers are counted. Players name themselves (`tkn`, user agent), so a client could pretend to be any number of viewers. Per
 * client, both the concurrent viewers and the new viewers per minute are limited.
 */
export class ViewerPlaces {
  readonly #watching: Places;
  readonly #begun: RateLimit;

  constructor(clock: Clock, perClient: number) {
    this.#watching = new Places({ inAll: MAX_WATCHING, perHolder: perClient });
    this.#begun = new RateLimit({ clock, quota: perClient, windowMs: MINUTE_MS });
  }

  /** `isNew`: the viewer was not counted on any node yet. */
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
