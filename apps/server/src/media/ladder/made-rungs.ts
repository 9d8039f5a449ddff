import type { VideoTrack } from "../packet.ts";
import type { ChildWork } from "../transcode/index.ts";
import { awayRungs, FULL_LOAD, type LadderLoad, nextLadderLoad } from "./ladder-load.ts";
import type { Rung } from "./ladder-plan.ts";
import { coresOf } from "./transcode-admission.ts";

/** A child that is further behind, or would spend more of its time working, has no room for another rung. */
const ROOM = { maxLagMs: 500, maxBusyShare: 0.8 };

/** Rungs that are paused or come back at a cut. */
export interface RungChange {
  readonly gone: readonly Rung[];
  readonly back: readonly Rung[];
}

/** The rungs of a ladder that are made now. They follow what the machine carries, at cuts alone. */
export class MadeRungs {
  readonly #rungs: readonly Rung[];
  readonly #largestFirst: readonly number[];
  #load: LadderLoad = FULL_LOAD;
  #indices: ReadonlySet<number>;
  /** The child's work at the last cut. */
  #atCut: { readonly work: ChildWork; readonly busyMs: number; readonly now: number } | null = null;

  constructor(rungs: readonly Rung[]) {
    this.#rungs = rungs;
    const largestFirst = rungs.toSorted((a, b) => b.width * b.height - a.width * a.height);
    this.#largestFirst = largestFirst.map(({ index }) => index);
    this.#indices = new Set(this.#largestFirst);
  }

  get indices(): ReadonlySet<number> {
    return this.#indices;
  }

  get rungs(): readonly Rung[] {
    return this.#rungs.filter(({ index }) => this.#indices.has(index));
  }

  get paused(): readonly Rung[] {
    return this.#rungs.filter(({ index }) => !this.#indices.has(index));
  }

  /** All rungs are made, and have been for long enough. */
  get isSteady(): boolean {
    return this.#load.state === "full";
  }

  /** A segment is closed in the rungs that were to have it. */
  segment(isLate: boolean, now: number): void {
    this.#load = nextLadderLoad(this.#load, { type: "segment", isLate, now }, this.#largestFirst);
  }

  /** The next segment begins. */
  cut(work: ChildWork, source: VideoTrack | null, now: number): RungChange {
    const hasRoom = source !== null && this.#hasRoom(work, source, now);
    this.#load = nextLadderLoad(this.#load, { type: "cut", hasRoom, now }, this.#largestFirst);
    this.#atCut = { work, busyMs: work.busyMs, now };
    const before = this.#indices;
    const away = awayRungs(this.#load);
    // One set for all segments that are made alike.
    if (away.length + before.size !== this.#largestFirst.length)
      this.#indices = new Set(this.#largestFirst.filter((index) => !away.includes(index)));
    return {
      gone: this.#rungs.filter(({ index }) => before.has(index) && !this.#indices.has(index)),
      back: this.#rungs.filter(({ index }) => !before.has(index) && this.#indices.has(index)),
    };
  }

  /** The machine would have the time for the next rung, too, by the time that the others took since the last cut. */
  #hasRoom(work: ChildWork, source: VideoTrack, now: number): boolean {
    const last = this.#atCut;
    const next = this.#rungs.find(({ index }) => index === awayRungs(this.#load).at(-1));
    if (!next || last?.work !== work || now <= last.now) return false;
    const busyShare = (work.busyMs - last.busyMs) / (now - last.now);
    const more = coresOf(source, [...this.rungs, next]) / coresOf(source, this.rungs);
    return work.lagMs(now) <= ROOM.maxLagMs && busyShare * more <= ROOM.maxBusyShare;
  }
}
