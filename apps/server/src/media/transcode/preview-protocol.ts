import type { StillJob } from "./still-protocol.ts";

/** A short moving picture without sound that a child makes of a stretch of video. */
export interface PreviewStart extends Pick<StillJob, "codec" | "config" | "maxWidth" | "maxHeight"> {
  /** What is shown of the packets that follow: from this PTS on and before that one, in 90 kHz ticks. */
  readonly fromTicks: number;
  readonly toTicks: number;
  /** Pictures a second, at most. */
  readonly frameRate: number;
}
