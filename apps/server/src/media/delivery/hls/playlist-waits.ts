import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../platform/clock.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { LiveFiles } from "./live-source.ts";
import { type WaitPlace, WaitPlaces } from "./wait-places.ts";

const MAX_WAIT_TARGET_DURATIONS = 3;
/** A player that joins gets the list as it is so much later than a first segment should be there: a rung may have nothing yet. */
export const JOIN_MARGIN_MS = 1000;

/** How late the end of a wait, or that its client has left, may be noticed. */
const LOOK_MS = 250;

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

interface Waiting {
  readonly wait: PlaylistWait;
  readonly place: WaitPlace;
  readonly until: number;
}

/** The requests held for one rendition. */
interface HeldRequests {
  waiting: Waiting[];
  readonly unsubscribe: () => void;
}

/**
 * Holds requests until a rendition has what they ask for, three target durations at most (RFC 8216bis 6.2.5.2). Hundreds begin and end to
 * wait with each part: they share a listener for each rendition and one timer, and have none of their own.
 */
export class PlaylistWaits {
  readonly #clock: Clock;
  readonly #places: WaitPlaces;
  readonly #renditions = new Map<LiveFiles, HeldRequests>();
  #timer: Timer | null = null;

  constructor(clock: Clock, proxies: TrustedProxies) {
    this.#clock = clock;
    this.#places = new WaitPlaces(proxies);
  }

  get count(): number {
    return this.#places.taken;
  }

  until(rendition: LiveFiles, wait: PlaylistWait): void {
    if (wait.isMet() || rendition.hasEnded) return wait.done();
    const place = this.#places.take(wait.req, wait.playbackId);
    if (!place) return wait.full();
    const withinMs = wait.withinMs ?? MAX_WAIT_TARGET_DURATIONS * rendition.targetDuration * 1000;
    this.#heldFor(rendition).waiting.push({ wait, place, until: this.#clock.monotonic() + withinMs });
  }

  #heldFor(rendition: LiveFiles): HeldRequests {
    const known = this.#renditions.get(rendition);
    if (known) return known;
    const held: HeldRequests = { waiting: [], unsubscribe: rendition.onChange(() => this.#look(rendition, held)) };
    this.#renditions.set(rendition, held);
    this.#timer ??= this.#clock.every(LOOK_MS, () => {
      for (const [rendition, held] of this.#renditions) this.#look(rendition, held);
    });
    return held;
  }

  #look(rendition: LiveFiles, held: HeldRequests): void {
    const now = this.#clock.monotonic();
    const looked = held.waiting;
    held.waiting = [];
    for (const one of looked) {
      const { wait, place, until } = one;
      const isOver = rendition.hasEnded || now >= until || wait.isMet();
      if (!isOver && !wait.res.destroyed) {
        held.waiting.push(one);
        continue;
      }
      this.#places.giveBack(place);
      if (!wait.res.destroyed) wait.done();
    }
    if (held.waiting.length === 0) this.#forget(rendition, held);
  }

  #forget(rendition: LiveFiles, { unsubscribe }: HeldRequests): void {
    unsubscribe();
    this.#renditions.delete(rendition);
    if (this.#renditions.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
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
