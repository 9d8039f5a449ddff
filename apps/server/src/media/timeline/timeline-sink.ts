import type { Payload, Track } from "../packet.ts";

/** A packet at its place on the timeline: times and duration in ticks of its own timescale (90 kHz video, sample rate audio). */
export interface Sample {
  readonly trackId: Track["id"];
  readonly kind: "video" | "audio";
  /** Presentation time T. */
  time: number;
  /** Never after `time`: composition offsets are not negative, which libavformat would take for a delay of the whole track. */
  decodeTime: number;
  duration: number;
  readonly isIndependent: boolean;
  readonly data: Payload;
}

/** A segment boundary, in presentation time. It belongs to the timeline: every rendition obeys it with its first sample at or after `ticks`. */
export interface Cut {
  readonly msn: number;
  /** Position in 90 kHz ticks. */
  readonly ticks: number;
  readonly programDateTimeMs: number;
  /** Tracks, decoder configurations or positions behind it do not continue those before. */
  readonly discontinuity: boolean;
  /** A picture stands at it. Where video has stopped, sound cuts, and no picture may ever come. */
  readonly byVideo: boolean;
}

/**
 * What a timeline tells its readers. Calls come in the order of the timeline, per track. A reader that keeps a sample beyond the call
 * retains its `data`.
 */
export interface TimelineSink {
  /** A stretch begins with these tracks; a cut follows at once. */
  stretch(tracks: readonly Track[]): void;
  cut(cut: Cut): void;
  sample(sample: Sample): void;
  /** No more samples before the next stretch: close the open segment of every rendition; the timeline stands at `ticks`. */
  pause(ticks: number): void;
}
