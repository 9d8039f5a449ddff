import { TICKS_PER_SECOND } from "../packet.ts";
import type { Ratio } from "./transcode-protocol.ts";

/** A picture is not repeated over a longer hole in the source: that is a hole in the rung too. */
const MAX_REPEAT_TICKS = TICKS_PER_SECOND;
/** A frame may come this part of a slot early: sources round their times to milliseconds, 6 % of a slot at 120 frames a second. */
const EARLY_SLOTS = 0.1;

/**
 * Brings a source's frames to a constant rate. The rate is a grid of slots, counted from the first frame: of frames in one slot only
 * the first passes, with the PTS it has; slots without a frame ask for the picture before to be repeated.
 */
export class FrameRateGate {
  readonly #ticksPerFrame: number;
  #origin: number | null = null;
  #lastSlot = 0;

  constructor(rate: Ratio) {
    this.#ticksPerFrame = (TICKS_PER_SECOND * rate.den) / rate.num;
  }

  /** True when the frame at `pts` passes; one that is forced always does. Frames come with rising PTS. */
  passes(pts: number, isForced: boolean): boolean {
    this.#origin ??= pts;
    const slot = this.#slotOf(pts);
    if (!isForced && pts !== this.#origin && slot <= this.#lastSlot) return false;
    this.#lastSlot = slot;
    return true;
  }

  /** PTS of the slots between the last frame and the one at `pts`, as far as they lie before `end`. Asked before `passes`. */
  repeatsBefore(pts: number, end: number): number[] {
    if (this.#origin === null) return [];
    const first = this.#lastSlot + 1;
    const slots = this.#slotOf(pts) - first;
    if (slots * this.#ticksPerFrame > MAX_REPEAT_TICKS) return [];
    const repeats: number[] = [];
    for (let slot = first; slot < first + slots; slot++) {
      const at = Math.round(this.#origin + slot * this.#ticksPerFrame);
      if (at < end) repeats.push(at);
    }
    return repeats;
  }

  #slotOf(pts: number): number {
    return Math.floor((pts - (this.#origin ?? pts)) / this.#ticksPerFrame + EARLY_SLOTS);
  }
}
