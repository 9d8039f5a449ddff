import { LRUCache } from "lru-cache";
import type { Clock } from "../clock.ts";
import type { Audience } from "./audiences.ts";

/** Of one playback id in an hour. Each is a row of the database; a `User-Agent` can name some thousands. */
export const MAX_AUDIENCES_PER_HOUR = 250;
const MAX_PLAYBACK_IDS = 10_000;
const HOUR_MS = 3_600_000;

interface Hour {
  readonly nth: number;
  readonly seen: Set<Audience>;
}

/** Limits how many audiences of one playback id are counted apart within an hour of the clock: those that come later are nobody known. */
export class HourlyAudiences {
  readonly #clock: Clock;
  readonly #hours = new LRUCache<string, Hour>({ max: MAX_PLAYBACK_IDS });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined for one too many. */
  admit(playbackId: string, audience: Audience): Audience | undefined {
    const nth = Math.floor(this.#clock.now() / HOUR_MS);
    let hour = this.#hours.get(playbackId);
    if (hour?.nth !== nth) {
      hour = { nth, seen: new Set() };
      this.#hours.set(playbackId, hour);
    }
    if (hour.seen.has(audience)) return audience;
    if (hour.seen.size >= MAX_AUDIENCES_PER_HOUR) return undefined;
    hour.seen.add(audience);
    return audience;
  }
}
