import type { MediaFrame, TimelineClock } from "./webrtc-protocol.ts";

/** Limits of the pictures kept per source for joining viewers: 4 s at 16 Mbit/s. Beyond them viewers wait for the next keyframe. */
const MAX_GOP_BYTES = 8 * 1024 * 1024;
const MAX_GOP_PICTURES = 1200;

export interface FanOutViewer {
  frame(frame: MediaFrame, from: FanOut): void;
}

/** Distributes one source to its viewers, and keeps the pictures since its last keyframe. */
export class FanOut {
  /** Null until the source tells it, before its first frame. */
  clock: TimelineClock | null = null;
  readonly #viewers = new Set<FanOutViewer>();
  #gop: MediaFrame[] = [];
  #gopBytes = 0;

  /** The pictures since the last keyframe, which is the first of them; empty if none are kept. */
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
