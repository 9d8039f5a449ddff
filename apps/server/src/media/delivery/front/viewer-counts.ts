import { randomUUID } from "node:crypto";
import { HourlyAudiences } from "../../../platform/audience/index.ts";
import type { Clock, Timer } from "../../../platform/clock.ts";
import { Places } from "../../../platform/limits/places.ts";
import { RateLimit } from "../../../platform/limits/rate-limit.ts";
import type { Audience, EventSink, ViewerCount } from "../../../ports/index.ts";

/** A viewer without requests for this long has left. */
const LEFT_AFTER_MS = 30_000;
const TELL_MS = 10_000;
const MAX_NEW_NAMED = 1000;
/** Beyond this, new viewers are not counted, but can watch. */
const MAX_WATCHING = 100_000;
const MINUTE_MS = 60_000;

/** The viewers of one playback id and audience since the last report. */
interface Tally {
  readonly playbackId: string;
  readonly audience: Audience | undefined;
  now: number;
  begun: number;
  newViewers: string[];
  watchedMs: number;
}

/** A viewer's player, while it sends requests. */
export interface Viewer {
  readonly id: string;
  readonly playbackId: string;
  /** The client whose limits apply. */
  readonly client: string;
  readonly audience: Audience | undefined;
  /** False until it was counted as new, on any node. */
  hasBegun: boolean;
  /** Monotonic milliseconds. */
  seenAt: number;
  /** Null while not watching. */
  tally: Tally | null;
  /** Called after 30 s without a request. */
  readonly onLeft?: () => void;
}

interface NewViewer {
  /** Set for a viewer who started elsewhere. */
  readonly id?: string;
  readonly audience?: Audience | undefined;
  readonly onLeft?: () => void;
}

/** Counts viewers by their requests and reports to the event sink every 10 s. A request costs one subtraction. */
export class ViewerCounts {
  readonly #clock: Clock;
  readonly #sink: EventSink;
  readonly #places: Places;
  readonly #newcomers: RateLimit;
  readonly #audiences: HourlyAudiences;
  readonly #watching = new Set<Viewer>();
  /** By playback id, then by audience. */
  readonly #tallies = new Map<string, Map<Audience | undefined, Tally>>();
  readonly #timer: Timer;

  /**
   * At most `viewersPerClient` viewers are counted per client, both at a time and newly in a minute: players name themselves (`tkn`, user agent), so a
   * client could pretend to be any number. Uncounted ones can watch as well.
   */
  constructor(clock: Clock, sink: EventSink, viewersPerClient: number) {
    this.#clock = clock;
    this.#sink = sink;
    this.#audiences = new HourlyAudiences(clock);
    this.#places = new Places({ inAll: MAX_WATCHING, perHolder: viewersPerClient });
    this.#newcomers = new RateLimit({ clock, quota: viewersPerClient, windowMs: MINUTE_MS });
    this.#timer = clock.every(TELL_MS, () => this.#tell());
  }

  /** Creates a viewer who is new on this node. */
  viewer(playbackId: string, client: string, more: NewViewer = {}): Viewer {
    const { id, audience, onLeft } = more;
    const hasBegun = id !== undefined;
    const begun = { id: id ?? randomUUID(), playbackId, client, audience, hasBegun, seenAt: 0, tally: null };
    return onLeft ? { ...begun, onLeft } : begun;
  }

  /** Notes a request of the viewer. */
  see(viewer: Viewer): void {
    const now = this.#clock.monotonic();
    if (viewer.tally) viewer.tally.watchedMs += Math.min(now - viewer.seenAt, LEFT_AFTER_MS);
    else this.#arrive(viewer);
    viewer.seenAt = now;
  }

  /** Counts everyone as gone and reports it. */
  close(): void {
    this.#timer.cancel();
    for (const viewer of this.#watching) this.#leave(viewer);
    this.#tell();
  }

  #arrive(viewer: Viewer): void {
    const { client, hasBegun } = viewer;
    if ((!hasBegun && this.#newcomers.isUsedUp(client)) || !this.#places.take(client)) return;
    if (!hasBegun) this.#newcomers.take(client);
    const tally = this.#tallyOf(viewer);
    this.#watching.add(viewer);
    viewer.tally = tally;
    tally.now++;
    if (viewer.hasBegun) return;
    viewer.hasBegun = true;
    tally.begun++;
    if (tally.newViewers.length < MAX_NEW_NAMED) tally.newViewers.push(viewer.id);
  }

  #tell(): void {
    const gone = this.#clock.monotonic() - LEFT_AFTER_MS;
    for (const viewer of this.#watching) if (viewer.seenAt < gone) this.#leave(viewer);
    if (this.#tallies.size === 0) return;
    const counts: ViewerCount[] = [];
    for (const [playbackId, tallies] of this.#tallies) {
      for (const tally of tallies.values()) {
        const { audience, ...count } = { ...tally, watchedMs: Math.round(tally.watchedMs) };
        counts.push(audience ? { ...count, audience } : count);
        // Reported once with zero viewers, then removed.
        if (tally.now === 0) tallies.delete(tally.audience);
        tally.begun = 0;
        tally.newViewers = [];
        tally.watchedMs = 0;
      }
      if (tallies.size === 0) this.#tallies.delete(playbackId);
    }
    this.#sink.countViewers(counts);
  }

  #tallyOf({ playbackId, ...viewer }: Viewer): Tally {
    let tallies = this.#tallies.get(playbackId);
    if (!tallies) {
      tallies = new Map();
      this.#tallies.set(playbackId, tallies);
    }
    const audience = viewer.audience && this.#audiences.admit(playbackId, viewer.audience);
    const tally = tallies.get(audience) ?? { playbackId, audience, now: 0, begun: 0, newViewers: [], watchedMs: 0 };
    tallies.set(audience, tally);
    return tally;
  }

  #leave(viewer: Viewer): void {
    if (this.#watching.delete(viewer)) this.#places.giveBack(viewer.client);
    if (viewer.tally) viewer.tally.now--;
    viewer.tally = null;
    viewer.onLeft?.();
  }
}
