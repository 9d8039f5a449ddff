import type { Payload, Track } from "../packet.ts";

/** A packet with its final timeline position. Times and duration are in ticks of its own timescale (90 kHz video, sample rate audio). */
export interface Sample {
  readonly trackId: Track["id"];
  readonly kind: "video" | "audio";
  /** Presentation time T. */
  time: number;
  /** Never after `time`. libavformat would interpret negative composition offsets as a delay of the whole track. */
  decodeTime: number;
  duration: number;
  readonly isIndependent: boolean;
  readonly data: Payload;
}

/**
 * A segment boundary, in presentation time. It belongs to the timeline: every rendition starts the segment with its first sample at or after
 * `ticks`.
 */
export interface Cut {
  readonly msn: number;
  /** Position in 90 kHz ticks. */
  readonly ticks: number;
  readonly programDateTimeMs: number;
  /** Tracks, decoder configurations or positions after it do not continue those before. */
  readonly discontinuity: boolean;
  /** True if a picture starts here. While video is stopped, audio cuts instead, and no picture may ever follow. */
  readonly byVideo: boolean;
  /** The source is away: the segment shows its last picture to live viewers, and is stored nowhere. */
  readonly isSlate?: boolean;
}

/**
 * What follows a timeline: a session's outputs, and the readers of its feed. Calls are in timeline order per track, and come from within the source's
 * packet, so a sink must neither throw nor wait. One that keeps a sample after the call must retain its `data`. One whose other end may be slow bounds
 * what waits there, and leaves out samples up to the next keyframe: `DroppedSamples` counts them.
 */
export interface TimelineSink {
  /** A stretch with these tracks starts; a cut follows immediately. */
  stretch(tracks: readonly Track[]): void;
  cut(cut: Cut): void;
  sample(sample: Sample): void;
  /** No samples until the next stretch: close the open segment of every rendition at `ticks`. */
  pause(ticks: number): void;
  /** The session goes on at another node. */
  moved?(): void;
  /** The session is over. */
  end(): void;
}

/**
 * What live viewers get while the source is away. It takes numbers and time of the timeline, and no reader of the feed knows of it. Calls are in
 * timeline order, between a `pause` and the next stretch.
 */
export interface SlateSink {
  /** Comes first. Returns the time from one picture to the next, in 90 kHz ticks; null if there is no picture that can be shown. */
  begin(): number | null;
  cut(cut: Cut): void;
  /** The last picture, in every rendition: `ticks` and `duration` in 90 kHz. */
  picture(ticks: number, duration: number): void;
  /** Silence. */
  sound(sample: Sample): void;
  /** Closes the open segment of every rendition at `ticks`. */
  end(ticks: number): void;
}
