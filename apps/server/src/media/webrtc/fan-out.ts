import type { MediaFrame } from "./webrtc-protocol.ts";

/** Of one source, for viewers that join: 4 s of 16 Mbit/s. Beyond it they wait for the next keyframe. */
const MAX_GOP_BYTES = 8 * 1024 * 1024;
const MAX_GOP_PICTURES = 1200;

/** The viewers. */
export interface FanOutViewer {
  frame(frame: MediaFrame, from: FanOut): void;
}

/** One source and all who watch it, with its pictures since the last keyframe. */
export class FanOut {
  readonly #viewers = new Set<FanOutViewer>();
  #gop: MediaFrame[] = [];
  #gopBytes = 0;

  /** Its pictures since the last keyframe, which is the first of them; empty where none is kept. */
  get gop(): readonly MediaFrame[] {
    return this.#gop;
  }

  join(viewer: FanOutViewer): void {
    this.#viewers.add(viewer);
  }

  leave(viewer: FanOutViewer): void {
    this.#viewers.delete(viewer);
  }

  frame(frame: MediaFrame): void {
    if (frame.kind === "video") this.#keep(frame);
    for (const viewer of this.#viewers) viewer.frame(frame, this);
  }

  #keep(frame: MediaFrame): void {
    if (frame.isIndependent) this.#forget();
    else if (this.#gop.length === 0) return;
    this.#gop.push(frame);
    this.#gopBytes += frame.data.length;
    if (this.#gopBytes > MAX_GOP_BYTES || this.#gop.length > MAX_GOP_PICTURES) this.#forget();
  }

  #forget(): void {
    this.#gop = [];
    this.#gopBytes = 0;
  }
}
