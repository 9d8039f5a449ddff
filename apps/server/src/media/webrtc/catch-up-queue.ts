import type { MediaFrame } from "./webrtc-protocol.ts";

/** Beyond this the viewer skips to the next keyframe: its source outruns the pace at which it catches up. 8 s at 16 Mbit/s. */
export const MAX_CATCH_UP_BYTES = 16 * 1024 * 1024;

/** The pictures that a viewer still has to be sent before it is in real time, in order. */
export class CatchUpQueue {
  readonly #frames: MediaFrame[] = [];
  #bytes = 0;

  constructor(frames: readonly MediaFrame[]) {
    for (const frame of frames) this.add(frame);
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** False if the queue is full; the viewer then has to wait for a keyframe. */
  add(frame: MediaFrame): boolean {
    if (this.#bytes + frame.data.length > MAX_CATCH_UP_BYTES) return false;
    this.#frames.push(frame);
    this.#bytes += frame.data.length;
    return true;
  }

  take(): MediaFrame | undefined {
    const frame = this.#frames.shift();
    this.#bytes -= frame?.data.length ?? 0;
    return frame;
  }
}

/** Distance of pictures that are sent faster than real time, in ticks. */
const SPACING_TICKS = 90;
const ASSUMED_FRAME_TICKS = 1500;

/**
 * The times of pictures that a viewer catches up with: close together, the last one at its own time. After `sentTime`, if the viewer was sent some
 * of them already; then they fit between the newest and the next picture, so that the following ones keep their times.
 */
export function catchUpTimes(pictures: readonly MediaFrame[], sentTime: number): number[] {
  const last = pictures.at(-1)?.time ?? 0;
  const count = pictures.length;
  const start = last - (count - 1) * SPACING_TICKS;
  if (start > sentTime) return pictures.map((_, n) => start + n * SPACING_TICKS);
  const frameTicks = count > 1 ? last - (pictures[count - 2]?.time ?? 0) : ASSUMED_FRAME_TICKS;
  const spacing = Math.max(1, Math.min(SPACING_TICKS, frameTicks / (count + 1)));
  return pictures.map((_, n) => sentTime + (n + 1) * spacing);
}
