import type { AacTrack, VideoTrack } from "../packet.ts";
import type { LinePages } from "./line-pages.ts";

/** The tracks of a line, at most one per kind. */
export interface LineTracks {
  readonly video: VideoTrack | null;
  readonly audio: AacTrack | null;
}

/** A frame with its timeline position in 90 kHz ticks. */
export interface LineFrame {
  readonly kind: "video" | "audio";
  readonly decodeTicks: number;
  readonly presentationTicks: number;
  readonly isIndependent: boolean;
  readonly data: Uint8Array;
}

/** The serialization of a broadcast in one protocol. */
export interface LineFormat {
  /** Duration of media sent at once, in milliseconds. Each batch costs one write per target. */
  readonly batchMs: number;
  /** Sets the tracks that follow. Returns a sentence if the protocol does not support them; then nothing is written. */
  begin(tracks: LineTracks): string | null;
  /** The messages that a target needs first when it starts at `ticks`. */
  opening(ticks: number): Uint8Array;
  write(pages: LinePages, frame: LineFrame): void;
}
