import type { ViewersMeasure } from "../../ports/index.ts";

/** The viewers of a session by WebRTC, as far as its owner is told of them. */
export interface WebrtcViewers {
  /** The source has B-frames, which WebRTC does not carry, and somebody watched or wanted to in the last minute. */
  readonly hasBFrames: boolean;
  /** Since the last look; null where nobody watches. */
  take(): ViewersMeasure | null;
}
