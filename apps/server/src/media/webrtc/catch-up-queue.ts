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
