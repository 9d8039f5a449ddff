import { messageReader } from "../../platform/pipe-frames.ts";
import type { VideoSpec } from "../../ports/index.ts";
import type { Rung } from "../ladder/ladder-plan.ts";
import type { StoredSpan } from "../stored/span-writer.ts";

/**
 * The messages between a media child and its parent. The child reads jobs from file descriptor 3 and writes messages to descriptor 4. The descriptors
 * from 5 on are the file, opened twice for each job. Ticks are 90 kHz on the asset's timeline, which starts with the first decoded picture.
 */

/** After this many jobs a child is replaced. */
export const MAX_JOBS = 8;
/** A demuxer starts at the descriptor's current offset, so each needs its own. A job reads the file at most twice. */
export const SOURCES_PER_JOB = 2;

/** Read the file once: make the source rendition and the audio, and decide where segments start. */
export interface ScanJob {
  readonly type: "scan";
  readonly epoch: number;
  readonly segmentSeconds: number;
  /** False after a scan that found the video unplayable as it is. */
  readonly mayCopyVideo: boolean;
}

/** Encode some segments of all rungs. */
export interface EncodeJob {
  readonly type: "encode";
  readonly epoch: number;
  readonly picture: ScannedPicture;
  readonly rungs: readonly Rung[];
  readonly preset: string;
  /** Subtracted from each decode time, to match renditions with B-frames that are played alongside; 0 if there are none. */
  readonly delayTicks: number;
  readonly segments: readonly SegmentStart[];
  /** Start of the segment after the last one. */
  readonly endTicks: number;
}

export type VodJob = ScanJob | EncodeJob;

export interface SegmentStart {
  readonly msn: number;
  readonly ticks: number;
  /** True if decoding can start here. */
  readonly isKeyframe: boolean;
}

/** The video of a file. */
export interface ScannedPicture {
  /** Index of the track in the file. */
  readonly stream: number;
  /** Added to the file's timestamps to get timeline ticks. */
  readonly offsetTicks: number;
  /** As displayed: upright, with square pixels. */
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly bitrateBps: number;
  readonly isCopied: boolean;
  readonly segments: readonly SegmentStart[];
  readonly endTicks: number;
}

export interface ScannedFile {
  readonly spec: VideoSpec;
  /** Null for audio only. */
  readonly picture: ScannedPicture | null;
}

/** A finished file with segments of one rendition. */
export interface MadeSpan extends StoredSpan {
  readonly type: "span";
}

export type VodMessage =
  | { readonly type: "spec"; readonly spec: VideoSpec }
  /** Followed by the bytes of an init segment. */
  | { readonly type: "init"; readonly rendition: string; readonly file: string }
  /** Followed by the bytes of the span. */
  | MadeSpan
  /** From 0 to 1; sent at least every second while the child works. */
  | { readonly type: "progress"; readonly done: number }
  | { readonly type: "scanned"; readonly file: ScannedFile }
  | { readonly type: "encoded" }
  /** The video cannot be copied: scan again with `mayCopyVideo: false`. */
  | { readonly type: "cannot-copy"; readonly reason: string }
  /** The file cannot be processed, and a retry will not help. The sentence is for its owner. */
  | { readonly type: "refused"; readonly sentence: string }
  /** The child ends because of an error that it did not expect. */
  | { readonly type: "broken"; readonly reason: string };

export interface FramedMessage {
  readonly message: VodMessage;
  readonly data: Uint8Array;
}

/** A span is closed once it exceeds 8 MiB, and a segment has at most 32 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** Reads the messages from a child's pipe. Throws for malformed bytes. */
export async function* readMessages(pipe: AsyncIterable<Uint8Array>): AsyncGenerator<FramedMessage, void> {
  const read = messageReader<FramedMessage>(MAX_MESSAGE_BYTES);
  for await (const piece of pipe) yield* read(piece);
}
