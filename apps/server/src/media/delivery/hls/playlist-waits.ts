import type { Clock, Timer } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import type { Slices } from "../../../platform/slices.ts";
import type { WindowRendition } from "../../packaging/window-rendition.ts";
import type { MediaRequest } from "../http/media-request.ts";
import { type WaitPlace, WaitPlaces } from "./wait-places.ts";

const MAX_WAIT_TARGET_DURATIONS = 3;
/** hls.js takes a request for a failure when its answer has not begun after 10 s. */
const MAX_WAIT_MS = 9_000;
/** How long after the expected first segment a joining player gets the playlist as it is: a rung may still be empty. */
export const JOIN_MARGIN_MS = 1000;

/** Maximum delay until the end of a wait, or a client that left, is noticed. */
const LOOK_MS = 250;

/** A waiting request. */
export interface PlaylistWait {
  readonly asked: Pick<MediaRequest, "address" | "client" | "res">;
  readonly isMet: () => boolean;
  /** Called once `isMet` holds, the rendition has ended or the time is over; immediately if one already applies. */
  readonly done: () => void;
  /** Called immediately instead of `done` if no wait slot is free. */
  readonly full: () => void;
  /** Of a viewer who goes back: answered after those at the live edge. */
  readonly goesBack: boolean;
  readonly withinMs?: number | undefined;
  /** Ends the wait once the rendition has published nothing for this long. */
  readonly quietMs?: number | undefined;
}

interface Waiting {
  readonly wait: PlaylistWait;
  readonly place: WaitPlace;
  readonly since: number;
  readonly until: number;
}

/** The requests that wait for one rendition. */
interface HeldRequests {
  waiting: Waiting[];
  changedAt: number;
  readonly unsubscribe: () => void;
}

/**
 * Holds requests until a rendition has the requested media, for at most three target durations (RFC 8216bis 6.2.5.2) and 9 s. Hundreds of waits
 * start and end with each part, so they share one listener per rendition and one timer, and are answered in slices.
 */
export class PlaylistWaits {
  readonly #clock: Clock;
  readonly #slices: Slices;
  readonly #log: Log;
  readonly #places = new WaitPlaces();
  readonly #renditions = new Map<WindowRendition, HeldRequests>();
  #timer: Timer | null = null;

  constructor(clock: Clock, slices: Slices, log: Log) {
    this.#clock = clock;
    this.#slices = slices;
    this.#log = log;
  }

  get count(): number {
    return this.#places.taken;
  }

  until(rendition: WindowRendition, wait: PlaylistWait): void {
    if (wait.isMet() || rendition.hasEnded) return wait.done();
    const place = this.#places.take(wait.asked.client, wait.asked.address.playbackId);
    if (!place) return wait.full();
    const withinMs =
      wait.withinMs ?? Math.min(MAX_WAIT_MS, MAX_WAIT_TARGET_DURATIONS * rendition.targetDuration * 1000);
    const since = this.#clock.monotonic();
    this.#heldFor(rendition).waiting.push({ wait, place, since, until: since + withinMs });
  }

  #heldFor(rendition: WindowRendition): HeldRequests {
    const known = this.#renditions.get(rendition);
    if (known) return known;
    const changed = () => {
      held.changedAt = this.#clock.monotonic();
      this.#look(rendition, held);
    };
    const held: HeldRequests = { waiting: [], changedAt: 0, unsubscribe: rendition.onChange(changed) };
    this.#renditions.set(rendition, held);
    this.#timer ??= this.#clock.every(LOOK_MS, () => {
      for (const [rendition, held] of this.#renditions) this.#look(rendition, held);
    });
    return held;
  }

  #look(rendition: WindowRendition, held: HeldRequests): void {
    const now = this.#clock.monotonic();
    const looked = held.waiting;
    held.waiting = [];
    const over: Waiting[] = [];
    for (const one of looked) {
      const { wait, since, until } = one;
      const isQuiet = now - Math.max(since, held.changedAt) >= (wait.quietMs ?? Number.POSITIVE_INFINITY);
      const isOver = rendition.hasEnded || isQuiet || now >= until || wait.isMet();
      (isOver || wait.asked.res.destroyed ? over : held.waiting).push(one);
    }
    if (held.waiting.length === 0) this.#forget(rendition, held);
    if (over.length === 0) return;
    over.sort((one, other) => Number(one.wait.goesBack) - Number(other.wait.goesBack));
    void this.#slices.forEach(over, (one) => this.#answer(one), { startsNow: true });
  }

  /** A failed answer ends its own connection: the others still get theirs, and the stream that published the part is not affected. */
  #answer({ wait: { asked, done }, place }: Waiting): void {
    this.#places.giveBack(place);
    if (asked.res.destroyed) return;
    try {
      done();
    } catch (error) {
      this.#log.error({ err: error, playbackId: asked.address.playbackId }, "could not answer a waiting request");
      asked.res.destroy();
    }
  }

  #forget(rendition: WindowRendition, { unsubscribe }: HeldRequests): void {
    unsubscribe();
    this.#renditions.delete(rendition);
    if (this.#renditions.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/**
 * True once the playlist contains the part, or the whole segment if `part` is null. A part after a segment's last one is the first of the next
 * segment.
 */
export function hasMedia(rendition: WindowRendition, msn: number, part: number | null): boolean {
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

/**
 * The highest MSN that may be requested: two ahead of the newest (RFC 8216bis 6.2.5.2 allows 400 beyond that). Any, while nothing is known: after a restart
 * players go on with the numbers of before, and a rung has none for a while.
 */
export function furthestMsn({ newestPart, open, nextPart }: WindowRendition): number {
  const newest = newestPart ?? open ?? nextPart;
  return newest === null ? Number.POSITIVE_INFINITY : newest.msn + 2;
}
