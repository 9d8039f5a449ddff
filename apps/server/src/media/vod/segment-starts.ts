import { TICKS_PER_SECOND } from "../packet.ts";
import { CannotCopy } from "./refusal.ts";
import type { SegmentStart } from "./vod-protocol.ts";

/** Beyond it players load too much at a time, and seek too far. */
const MAX_COPIED_SECONDS = 12;
/** A segment of so many bytes ends with its next keyframe, however short it is. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** Decides where segments begin, as the pictures of a file are read through in order of decoding. */
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
   * A picture at `ticks`; true when a segment begins with it, as soon as the one before is long or large enough. Copied segments begin with keyframes alone, others also between two that are far
   * apart. Throws `CannotCopy`.
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
    // A keyframe may still come within the length of one more segment.
    for (let at = last.ticks + this.#ticks; ticks >= at + this.#ticks; at += this.#ticks) this.#add(at, false);
    return false;
  }

  /** Sound goes on behind the last picture, or there is none. */
  fill(ticks: number): void {
    const last = this.all.at(-1);
    if (!last) this.#add(0, false);
    else for (let at = last.ticks + this.#ticks; ticks >= at; at += this.#ticks) this.#add(at, false);
  }

  #add(ticks: number, isKeyframe: boolean): void {
    this.all.push({ msn: this.all.length + 1, ticks, isKeyframe });
  }
}
