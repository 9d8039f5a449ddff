import { TICKS_PER_SECOND } from "../packet.ts";

const WINDOW_FRAMES = 30;
/** Fewer say too little: RTMP's times are rounded to milliseconds. */
const MIN_FRAMES = 8;
/** A pause is not a rate. */
const MAX_INTERVAL_TICKS = 2 * TICKS_PER_SECOND;

/** Frames a second, over the last 30 frames. */
export class FrameRateMeter {
  readonly #times: number[] = [];

  /** The rate after the frame at `pts`; null while too few frames are known. */
  add(pts: number): number | null {
    const last = this.#times.at(-1);
    if (last !== undefined && pts - last > MAX_INTERVAL_TICKS) this.#times.length = 0;
    this.#times.push(pts);
    if (this.#times.length > WINDOW_FRAMES) this.#times.shift();
    const first = this.#times[0] ?? pts;
    if (this.#times.length < MIN_FRAMES || pts <= first) return null;
    return ((this.#times.length - 1) * TICKS_PER_SECOND) / (pts - first);
  }
}
