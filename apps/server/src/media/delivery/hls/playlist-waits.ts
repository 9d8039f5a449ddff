import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { LiveFiles } from "./live-source.ts";
import { WaitPlaces } from "./wait-places.ts";

const WAIT_TARGET_DURATIONS = 3;
/** A player that joins gets the list as it is after this long: a rung may have nothing yet. */
export const JOIN_WAIT_MS = 3000;

/** One request that waits. */
export interface PlaylistWait {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly playbackId: string;
  readonly isMet: () => boolean;
  /** Called once `isMet` holds, the rendition ended or the time is over; at once if it does already. */
  readonly done: () => void;
  /** Called at once, in place of `done`, where there is no room to wait. */
  readonly full: () => void;
  readonly withinMs?: number | undefined;
}

/** Holds requests until a rendition has what they ask for, three target durations at most (RFC 8216bis 6.2.5.2). */
export class PlaylistWaits {
  readonly #clock: Clock;
  readonly #places: WaitPlaces;

  constructor(clock: Clock, proxies: TrustedProxies) {
    this.#clock = clock;
    this.#places = new WaitPlaces(proxies);
  }

  get count(): number {
    return this.#places.taken;
  }

  until(rendition: LiveFiles, wait: PlaylistWait): void {
    const {
      req,
      res,
      playbackId,
      isMet,
      done,
      full,
      withinMs = WAIT_TARGET_DURATIONS * rendition.targetDuration * 1000,
    } = wait;
    if (isMet() || rendition.hasEnded) return done();
    const place = this.#places.take(req, playbackId);
    if (!place) return full();
    let timer: Timer;
    const stop = (): void => {
      unsubscribe();
      timer.cancel();
      res.off("close", stop);
      this.#places.giveBack(place);
    };
    const finish = (): void => {
      stop();
      done();
    };
    const unsubscribe = rendition.onChange(() => {
      if (isMet() || rendition.hasEnded) finish();
    });
    timer = this.#clock.after(withinMs, finish);
    res.once("close", stop);
  }
}

/** True once the playlist holds the part, or the whole segment where `part` is null. A part past a segment's last is the next one's first. */
export function hasMedia(rendition: LiveFiles, msn: number, part: number | null): boolean {
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
export function furthestMsn(rendition: LiveFiles): number {
  return (rendition.newestPart?.msn ?? rendition.open?.msn ?? 0) + 2;
}
