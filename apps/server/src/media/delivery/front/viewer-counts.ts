import { randomUUID } from "node:crypto";
import { HourlyAudiences } from "../../../platform/audience/index.ts";
import type { Clock, Timer } from "../../../platform/clock.ts";
import type { NodePlace } from "../../../platform/cluster/index.ts";
import { Places } from "../../../platform/limits/places.ts";
import { RateLimit } from "../../../platform/limits/rate-limit.ts";
import type { Audience, EventSink, ViewerCount } from "../../../ports/index.ts";
import type { CountingNodes, ToldViewer } from "./counting-nodes.ts";

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
  /** The sink knows of viewers. */
  isReported: boolean;
}

/** A viewer's player, while it sends requests. */
export interface Viewer {
  readonly id: string;
  /** The same at every node that this player asks. */
  readonly key: string;
  readonly playbackId: string;
  /** The client whose limits apply. */
  readonly client: string;
  readonly audience: Audience | undefined;
  /** False until it was counted as new, on any node. */
  hasBegun: boolean;
  /** Counted as new here, and no other node was told. */
  isNew: boolean;
  /** Monotonic milliseconds: up to when its time was told another node, or was its arrival. */
  toldUntil: number;
  seenAt: number;
  /** Null while not watching. */
  tally: Tally | null;
  /** Called after 30 s without a request. */
  readonly onLeft?: () => void;
}

interface NewViewer {
  /** Set for a viewer who started elsewhere. */
  readonly id?: string;
  /** By default its id. */
  readonly key?: string;
  readonly audience?: Audience | undefined;
  readonly onLeft?: () => void;
}

/** Which node counts whom, where several do. */
export type ViewerNodes = Pick<CountingNodes, "of" | "tell" | "refresh">;

/** The viewers of a playback id that another node counts. */
interface Elsewhere {
  readonly place: NodePlace;
  readonly viewers: ToldViewer[];
  /** To be reported here if that node does not answer. */
  readonly counts: { readonly tally: Tally; readonly count: ViewerCount }[];
}

/**
 * Counts viewers by their requests and reports to the event sink every 10 s. A request costs one subtraction. Where several nodes serve, one of them
 * counts the viewers of a playback id, and the others tell it of theirs; viewers of whom it does not take word are counted here.
 */
export class ViewerCounts {
  readonly #clock: Clock;
  readonly #sink: EventSink;
  readonly #nodes: ViewerNodes | null;
  readonly #places: Places;
  readonly #newcomers: RateLimit;
  readonly #audiences: HourlyAudiences;
  /** By key. */
  readonly #watching = new Map<string, Viewer>();
  /** By playback id, then by audience. */
  readonly #tallies = new Map<string, Map<Audience | undefined, Tally>>();
  readonly #timer: Timer;

  /**
   * At most `viewersPerClient` viewers are counted per client, both at a time and newly in a minute: players name themselves (`tkn`, user agent), so a
   * client could pretend to be any number. Uncounted ones can watch as well. `nodes`: null where this one counts alone.
   */
  constructor(clock: Clock, sink: EventSink, viewersPerClient: number, nodes: ViewerNodes | null = null) {
    this.#clock = clock;
    this.#sink = sink;
    this.#nodes = nodes;
    this.#audiences = new HourlyAudiences(clock);
    this.#places = new Places({ inAll: MAX_WATCHING, perHolder: viewersPerClient });
    this.#newcomers = new RateLimit({ clock, quota: viewersPerClient, windowMs: MINUTE_MS });
    this.#timer = clock.every(TELL_MS, () => this.#tell());
  }

  /** Creates a viewer who is new on this node. */
  viewer(playbackId: string, client: string, more: NewViewer = {}): Viewer {
    const { id = randomUUID(), key = id, audience, onLeft } = more;
    const times = { toldUntil: 0, seenAt: 0 };
    const hasBegun = more.id !== undefined;
    const begun = { id, key, playbackId, client, audience, hasBegun, isNew: false, ...times, tally: null };
    return onLeft ? { ...begun, onLeft } : begun;
  }

  /** Notes a request of the viewer. */
  see(viewer: Viewer, at = this.#clock.monotonic()): void {
    if (!viewer.tally) this.#arrive(viewer, at);
    const { tally, seenAt } = viewer;
    if (tally && at > seenAt) tally.watchedMs += Math.min(at - seenAt, LEFT_AFTER_MS);
    viewer.seenAt = Math.max(at, seenAt);
  }

  /** Viewers of another node, which this one counts. */
  seeElsewhere(told: readonly ToldViewer[]): void {
    const now = this.#clock.monotonic();
    for (const { playbackId, key, id, client, audience, isNew, arrivedAgoMs, seenAgoMs } of told) {
      let viewer = this.#watching.get(key);
      if (!viewer) {
        viewer = this.viewer(playbackId, client, { id, key, audience });
        viewer.hasBegun = !isNew;
        this.see(viewer, now - arrivedAgoMs);
      }
      this.see(viewer, now - seenAgoMs);
    }
  }

  /** Counts everyone as gone and reports it. */
  close(): void {
    this.#timer.cancel();
    for (const viewer of this.#watching.values()) this.#leave(viewer);
    const tallies = [...this.#tallies.values()].flatMap((ofId) => [...ofId.values()]);
    this.#tallies.clear();
    if (tallies.length > 0) this.#sink.countViewers(tallies.map(countOf));
  }

  #arrive(viewer: Viewer, at: number): void {
    const { client, key } = viewer;
    const same = this.#watching.get(key);
    if (same) {
      viewer.hasBegun ||= same.hasBegun;
      viewer.isNew = same.isNew;
      this.#leave(same);
    }
    viewer.toldUntil = viewer.seenAt = same?.seenAt ?? at;
    if ((!viewer.hasBegun && this.#newcomers.isUsedUp(client)) || !this.#places.take(client)) return;
    if (!viewer.hasBegun) this.#newcomers.take(client);
    const tally = this.#tallyOf(viewer);
    this.#watching.set(key, viewer);
    viewer.tally = tally;
    tally.now++;
    if (viewer.hasBegun) return;
    viewer.hasBegun = viewer.isNew = true;
    tally.begun++;
    if (tally.newViewers.length < MAX_NEW_NAMED) tally.newViewers.push(viewer.id);
  }

  #tell(): void {
    const gone = this.#clock.monotonic() - LEFT_AFTER_MS;
    for (const viewer of this.#watching.values()) if (viewer.seenAt < gone) this.#leave(viewer);
    if (this.#tallies.size === 0) return;
    this.#nodes?.refresh();
    const here: ViewerCount[] = [];
    const elsewhere = new Map<string, Elsewhere>();
    for (const [playbackId, tallies] of this.#tallies) {
      const place = this.#nodes?.of(playbackId) ?? null;
      const told: Elsewhere | null = place && { place, counts: [], viewers: [] };
      if (told) elsewhere.set(playbackId, told);
      for (const tally of tallies.values()) {
        const count = countOf(tally);
        if (told && count.now > 0) told.counts.push({ tally, count });
        else if (!told || tally.isReported) {
          here.push(count);
          tally.isReported = count.now > 0;
        }
        // Reported once with zero viewers, then removed.
        if (count.now === 0) tallies.delete(tally.audience);
      }
      if (tallies.size === 0) this.#tallies.delete(playbackId);
    }
    if (here.length > 0) this.#sink.countViewers(here);
    if (elsewhere.size > 0) this.#tellElsewhere(elsewhere);
  }

  #tellElsewhere(elsewhere: ReadonlyMap<string, Elsewhere>): void {
    const now = this.#clock.monotonic();
    for (const viewer of this.#watching.values()) {
      const { playbackId, key, id, client, audience, isNew, toldUntil, seenAt } = viewer;
      const ago = { arrivedAgoMs: Math.max(0, now - toldUntil), seenAgoMs: Math.max(0, now - seenAt) };
      const told = { playbackId, key, id, client, ...(audience && { audience }), isNew, ...ago };
      if (!elsewhere.get(playbackId)?.viewers.push(told)) continue;
      viewer.isNew = false;
      viewer.toldUntil = seenAt;
    }
    for (const told of Map.groupBy(elsewhere.values(), ({ place }) => place.nodeId).values()) void this.#tellNode(told);
  }

  /** Of playback ids that one node counts. What it does not take is counted here. Never rejects. */
  async #tellNode(told: readonly Elsewhere[]): Promise<void> {
    const [first] = told;
    const viewers = told.flatMap((of) => of.viewers);
    const isTaken = first ? await this.#nodes?.tell(first.place, viewers) : false;
    const counts: ViewerCount[] = [];
    for (const { tally, count } of told.flatMap((of) => of.counts)) {
      if (!isTaken) counts.push(count);
      else if (tally.isReported) counts.push({ ...count, ...NONE });
      tally.isReported = !isTaken;
    }
    if (counts.length > 0) this.#sink.countViewers(counts);
  }

  #tallyOf({ playbackId, ...viewer }: Viewer): Tally {
    let tallies = this.#tallies.get(playbackId);
    if (!tallies) {
      tallies = new Map();
      this.#tallies.set(playbackId, tallies);
      this.#nodes?.refresh();
    }
    const audience = viewer.audience && this.#audiences.admit(playbackId, viewer.audience);
    const tally = tallies.get(audience) ?? { playbackId, audience, ...NONE, newViewers: [], isReported: false };
    tallies.set(audience, tally);
    return tally;
  }

  #leave(viewer: Viewer): void {
    if (this.#watching.delete(viewer.key)) this.#places.giveBack(viewer.client);
    if (viewer.tally) viewer.tally.now--;
    viewer.tally = null;
    viewer.onLeft?.();
  }
}

const NONE = { now: 0, begun: 0, newViewers: [], watchedMs: 0 };

/** Since the last one. */
function countOf(tally: Tally): ViewerCount {
  const { playbackId, audience, now, begun, newViewers, watchedMs } = tally;
  Object.assign(tally, { begun: 0, newViewers: [], watchedMs: 0 });
  const count = { playbackId, now, begun, newViewers, watchedMs: Math.round(watchedMs) };
  return audience ? { ...count, audience } : count;
}
