import type { Clock, Timer } from "../../../platform/clock.ts";
import type { LiveRendition } from "../../packaging/live-rendition.ts";
import { TARGET_DURATION_SECONDS } from "../../timeline/cutter.ts";

/** Blocked requests of the whole server; beyond it the list is sent as it stands. */
const MAX_WAITS = 20_000;
const WAIT_MS = 3 * TARGET_DURATION_SECONDS * 1000;
/** A player that joins gets the list as it is after this long: a rung may have nothing yet. */
export const JOIN_WAIT_MS = 3000;

/** Holds requests until a rendition has what they ask for, three target durations at most (RFC 8216bis 6.2.5.2). */
export class PlaylistWaits {
  readonly #clock: Clock;
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call `done` once `isMet` holds, the rendition ended or the time is over; at once if it does already. */
  until(rendition: LiveRendition, isMet: () => boolean, done: () => void, withinMs = WAIT_MS): void {
    if (isMet() || rendition.hasEnded || this.#waiting >= MAX_WAITS) return done();
    this.#waiting++;
    let timer: Timer;
    const finish = (): void => {
      stop();
      timer.cancel();
      this.#waiting--;
      done();
    };
    const stop = rendition.onChange(() => {
      if (isMet() || rendition.hasEnded) finish();
    });
    timer = this.#clock.after(withinMs, finish);
  }
}

/** True once the playlist holds the part, or the whole segment where `part` is null. A part past a segment's last is the next one's first. */
export function hasMedia(rendition: LiveRendition, msn: number, part: number | null): boolean {
  const { open, listed } = rendition;
  const newest = open?.msn ?? (listed.at(-1)?.msn ?? 0) + 1;
  if (msn < newest) {
    const segment = rendition.segment(msn);
    const isLast = msn === newest - 1;
    if (!isLast || part === null || !segment || part < segment.parts.length) return true;
    return (open?.parts.length ?? 0) > 0;
  }
  return msn === newest && part !== null && (open?.parts.length ?? 0) > part;
}

/** Highest MSN that may be asked for: two ahead of what is there (RFC 8216bis 6.2.5.2 leaves more to a 400). */
export function furthestMsn(rendition: LiveRendition): number {
  return (rendition.newestPart?.msn ?? rendition.open?.msn ?? 0) + 2;
}
