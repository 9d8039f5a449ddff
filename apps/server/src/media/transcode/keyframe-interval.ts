import { TICKS_PER_SECOND } from "../packet.ts";

/** A picture may come this much before its time: sources round their times to milliseconds. */
const EARLY_TICKS = TICKS_PER_SECOND / 1000;

/** The choice of a rung's IDR pictures: those where its segments begin, and the next ones at every interval from there. */
export class KeyframeInterval {
  readonly #ticks: number;
  #nextTicks = Infinity;

  /** `seconds` 0: every picture; null: only those where a segment begins. */
  constructor(seconds: number | null) {
    this.#ticks = (seconds ?? Infinity) * TICKS_PER_SECOND;
  }

  /** True when the picture at `pts` is one. `isRestart`: it must be, and the interval counts from it. Pictures come with rising PTS. */
  isDue(pts: number, isRestart: boolean): boolean {
    if (isRestart) this.#nextTicks = pts + this.#ticks;
    else if (pts < this.#nextTicks - EARLY_TICKS) return false;
    else while (this.#nextTicks <= pts + EARLY_TICKS && this.#ticks > 0) this.#nextTicks += this.#ticks;
    return true;
  }
}
