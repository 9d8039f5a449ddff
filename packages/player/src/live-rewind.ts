import type Hls from "hls.js";
import type { LevelDetails } from "hls.js";
import {
  dateOf,
  firstMoment,
  LIVE_WITHIN_MS,
  type LiveTimeline,
  positionOf,
  type RewindWindow,
  rewindWindowOf,
} from "./rewind.ts";

/** Where a viewer of the live address is, in the time of the list that goes back: it is read once in a target duration, and its edge moves on meanwhile. */
function edgeOf({ live, edge, age, targetduration, partHoldBack, holdBack }: LevelDetails): number {
  return live ? edge + Math.min(age, targetduration) - (partHoldBack || holdBack || 0) : edge;
}

/** The list of the address to go back by has other moments than the playlist said, when the source was away. */
const WRONG_BY_SECONDS = 0.5;
/** Sound may begin a few frames behind the first picture, and a browser that seeks to before it waits. */
const AT_THE_BEGINNING_SECONDS = 0.1;

/** What a live playback shares with this. */
export interface Placed {
  /** The moment that a viewer has gone back to, in ms since the epoch; null at the live edge. */
  fromMs: number | null;
  /** Loads the video again, from that moment. */
  reload: () => void;
}

/**
 * Goes back in a live stream and to its edge again. At the edge the live address plays, with low latency; a viewer who goes back changes to the address
 * whose lists go back, and stays there until the edge.
 */
export class LiveRewind {
  readonly #video: HTMLVideoElement;
  readonly #placed: Placed;
  #hls: Hls | null = null;
  #window: RewindWindow | null = null;
  /** Whether what plays now is the address that goes back. */
  #isBack = false;
  #last: LiveTimeline | null = null;

  constructor(video: HTMLVideoElement, placed: Placed) {
    this.#video = video;
    this.#placed = placed;
  }

  /** To be called before the video is loaded again. Returns the position to begin at, in seconds; null for the live edge. */
  leave(): number | null {
    if (this.#isBack && this.#placed.fromMs !== null)
      this.#placed.fromMs = this.timeline()?.atMs ?? this.#placed.fromMs;
    this.#hls = null;
    const { fromMs } = this.#placed;
    this.#isBack = fromMs !== null;
    if (fromMs === null) return null;
    return Math.max(AT_THE_BEGINNING_SECONDS, (fromMs - (this.#last?.sinceMs ?? fromMs)) / 1000);
  }

  follow(Player: typeof Hls, hls: Hls, startSeconds: number | null): void {
    this.#hls = hls;
    hls.on(Player.Events.MANIFEST_PARSED, (_event, { sessionData }) => {
      this.#window = rewindWindowOf(sessionData as Parameters<typeof rewindWindowOf>[0]);
    });
    if (startSeconds === null) return;
    hls.once(Player.Events.LEVEL_LOADED, (_event, { details }) => {
      const exact = positionOf(details.fragments, this.#placed.fromMs ?? 0);
      if (exact !== null && Math.abs(exact - startSeconds) > WRONG_BY_SECONDS)
        hls.startLoad(Math.max(AT_THE_BEGINNING_SECONDS, exact));
    });
  }

  /** Null before the first picture, and where viewers cannot go back. */
  timeline(): LiveTimeline | null {
    if (this.#window === null) return null;
    this.#last = (this.#isBack ? this.#timelineBack() : this.#timelineAtEdge(this.#window)) ?? this.#last;
    return this.#last;
  }

  /** Goes to a moment, in ms since the epoch; null for the live edge. */
  goTo(dateMs: number | null): void {
    const timeline = this.timeline();
    // A broadcast that has ended meanwhile has no live edge to change to.
    const isOver = this.#isBack && this.#hls?.latestLevelDetails?.live === false;
    const isBack = dateMs !== null && timeline !== null && (isOver || timeline.edgeMs - dateMs > LIVE_WITHIN_MS);
    const fromMs = isBack ? Math.max(dateMs, timeline.sinceMs) : null;
    const wasBack = this.#isBack;
    this.#placed.fromMs = fromMs;
    if (fromMs !== null && timeline) this.#last = { ...timeline, atMs: fromMs };
    const position = this.#positionOf(fromMs);
    // Another position of what plays, or another address.
    if ((fromMs !== null) === wasBack && position !== null) this.#video.currentTime = position;
    else {
      if (wasBack) this.#isBack = false;
      this.#placed.reload();
    }
    this.#video.play().catch(() => {});
  }

  #positionOf(fromMs: number | null): number | null {
    if (fromMs === null) return this.#hls?.liveSyncPosition ?? null;
    const fragments = this.#hls?.latestLevelDetails?.fragments ?? [];
    const position = positionOf(fragments, fromMs);
    return position === null ? null : Math.max(position, (fragments[0]?.start ?? 0) + AT_THE_BEGINNING_SECONDS);
  }

  #timelineAtEdge(window: RewindWindow): LiveTimeline | null {
    const atMs = this.#hls?.playingDate?.getTime();
    const edge = this.#hls?.liveSyncPosition;
    if (atMs === undefined || edge == null) return null;
    const edgeMs = Math.max(atMs, atMs + (edge - this.#video.currentTime) * 1000);
    return { sinceMs: firstMoment(window, edgeMs), atMs, edgeMs };
  }

  #timelineBack(): LiveTimeline | null {
    const details = this.#hls?.latestLevelDetails;
    const since = details?.fragments[0]?.programDateTime;
    if (!details || since == null || this.#video.readyState === HTMLMediaElement.HAVE_NOTHING) return null;
    const atMs = dateOf(details.fragments, this.#video.currentTime);
    const edgeMs = dateOf(details.fragments, edgeOf(details));
    return atMs === null || edgeMs === null ? null : { sinceMs: since, atMs, edgeMs: Math.max(atMs, edgeMs) };
  }
}
