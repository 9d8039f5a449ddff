import type { ToChild } from "./transcode-protocol.ts";

type Cut = Omit<Extract<ToChild, { type: "cut" }>, "type">;

/** The segment that a frame belongs to. */
export interface FrameSegment extends Cut {
  /** True for the first frame that was asked for with a PTS in the segment. */
  readonly isNew: boolean;
}

/** More than decoders hold back, even of a source that cuts at every frame. */
const MAX_PENDING = 256;

/** Segments of the timeline, told ahead of the frames that come out of a decoder in order of PTS. */
export class SegmentCuts {
  readonly #pending: Cut[] = [];
  #current: Cut | null = null;

  add(msn: number, ticks: number): void {
    this.#pending.push({ msn, ticks });
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
  }

  /** The segment of the frame at `pts`; null before the first. */
  at(pts: number): FrameSegment | null {
    let isNew = false;
    for (let next = this.#pending[0]; next && next.ticks <= pts; next = this.#pending[0]) {
      this.#current = next;
      this.#pending.shift();
      isNew = true;
    }
    return this.#current && { ...this.#current, isNew };
  }
}
