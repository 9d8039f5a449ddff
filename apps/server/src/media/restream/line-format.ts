import type { AacTrack, VideoTrack } from "../packet.ts";
import type { LinePages } from "./line-pages.ts";

/** The tracks that a line sends, at most one of each kind. */
export interface LineTracks {
  readonly video: VideoTrack | null;
  readonly audio: AacTrack | null;
}

/** A frame at its place on the timeline, in 90 kHz ticks. */
export interface LineFrame {
  readonly kind: "video" | "audio";
  readonly decodeTicks: number;
  readonly presentationTicks: number;
  readonly isIndependent: boolean;
  readonly data: Uint8Array;
}

/** How a protocol writes a broadcast. */
export interface LineFormat {
  /** So much media is sent at a time, in milliseconds: each time costs every target a write. */
  readonly batchMs: number;
  /** These tracks follow. A sentence where the protocol does not carry them: then nothing is written. */
  begin(tracks: LineTracks): string | null;
  /** The messages that a target needs before it can begin at `ticks`. */
  opening(ticks: number): Uint8Array;
  write(pages: LinePages, frame: LineFrame): void;
}
