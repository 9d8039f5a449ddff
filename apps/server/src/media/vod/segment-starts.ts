import { TICKS_PER_SECOND } from "../packet.ts";
import { CannotCopy } from "./refusal.ts";
import type { SegmentStart } from "./vod-protocol.ts";

/** Longer segments make players load too much at once and seek too far. */
const MAX_COPIED_SECONDS = 12;
/** A segment that has reached this size ends at the next keyframe, even if it is short. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** Decides where segments start, given the pictures of a file in decoding order. */
export class SegmentStarts {
  readonly all: SegmentStart[] = [];
  readonly #ticks: number;
  readonly #isCopied: boolean;
  #keyframeTicks = 0;

  constructor(seconds: number, isCopied: boolean) {
    this.#ticks = seconds * TICKS_PER_SECOND;
    this.#isCopied = isCopied;
  }

  get last(): SegmentStart | null {
    return this.all.at(-1) ?? null;
  }

  /**
   * Adds a picture at `ticks`. Returns true if it starts a segment, which requires a keyframe and a previous segment that is long or large enough.
   * Copied segments start at keyframes only; re-encoded segments may also start between keyframes that are far apart. Throws `CannotCopy`.
   */
  take(ticks: number, isKeyframe: boolean, bytesBefore = 0): boolean {
    const last = this.all.at(-1);
    if (isKeyframe) this.#keyframeTicks = ticks;
    if (isKeyframe && (!last || ticks >= last.ticks + this.#ticks || bytesBefore >= LARGE_BYTES)) {
      this.#add(ticks, true);
      return true;
    }
    if (!last) return false;
    if (this.#isCopied) {
      if (ticks > this.#keyframeTicks + MAX_COPIED_SECONDS * TICKS_PER_SECOND)
        throw new CannotCopy(`its keyframes are more than ${MAX_COPIED_SECONDS} seconds apart`);
      return false;
    }
    // A keyframe may still arrive within one more segment length.
    for (let at = last.ticks + this.#ticks; ticks >= at + this.#ticks; at += this.#ticks) this.#add(at, false);
    return false;
  }

  /** Adds segments for audio that continues after the last picture, or has no video. */
  fill(ticks: number): void {
    const last = this.all.at(-1);
    if (!last) this.#add(0, false);
    else for (let at = last.ticks + this.#ticks; ticks >= at; at += this.#ticks) this.#add(at, false);
  }

  #add(ticks: number, isKeyframe: boolean): void {
    this.all.push({ msn: this.all.length + 1, ticks, isKeyframe });
  }
}
