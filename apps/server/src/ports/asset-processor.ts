/** Processing of a customer's file: the domain floor says which file, and stores the result that the media floor returns. */

import type { MediaIndex } from "./media-index.ts";
import type { TaskRun } from "./task-run.ts";

/** Prefix of the object keys of everything that belongs to an asset. It holds ids only, never text from a user. */
export function assetPrefix(projectId: string, assetId: string): string {
  return `v1/${projectId}/asset/${assetId}/`;
}

/** One rung that the customer asked for. Without a size, the rung has the source's size. */
export interface AssetProfile {
  readonly name?: string;
  /** Pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Bits per second. */
  readonly bitrate: number;
  /** Frames per second, divided by `fpsDen`; absent or 0 keeps the source's frame rate. */
  readonly fps?: number;
  readonly fpsDen?: number;
  /** Constant rate factor, 0 to 44; 0 for none. */
  readonly quality?: number;
  /** Seconds between keyframes as a number in text, or `intra`. */
  readonly gop?: string;
  readonly profile?: "H264Baseline" | "H264Main" | "H264High" | "H264ConstrainedHigh";
  readonly encoder?: "H.264" | "HEVC" | "VP8" | "VP9";
}

export interface AssetWork {
  readonly assetId: string;
  readonly projectId: string;
  /** The source file, complete and durable in the object store. */
  readonly sourceKey: string;
  readonly sourceBytes: number;
  /** Rises each time the owner restarts processing. File names begin with it, so that no URL ever names two things. */
  readonly attempt: number;
  /** Folder for the output. It stays the same for each run until the owner restarts processing, so a run can find the files of a killed one. */
  readonly outPrefix: string;
  /** Null for the default ladder. */
  readonly profiles: readonly AssetProfile[] | null;
  /** MP4s of all rungs, however long the video is. */
  readonly staticMp4: boolean;
  readonly targetSegmentSeconds: number | null;
}

export interface VideoTrackSpec {
  readonly type: "video";
  readonly codec: string;
  readonly startTime?: number;
  /** Seconds. */
  readonly duration?: number;
  readonly bitrate?: number;
  readonly width?: number;
  readonly height?: number;
  readonly pixelFormat?: string;
  readonly fps?: number;
}

export interface AudioTrackSpec {
  readonly type: "audio";
  readonly codec: string;
  readonly startTime?: number;
  /** Seconds. */
  readonly duration?: number;
  readonly bitrate?: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly bitDepth?: number;
}

/** The contents of the file, as the probe found them. */
export interface VideoSpec {
  readonly format: string;
  /** Seconds. */
  readonly duration: number;
  /** Bits per second. */
  readonly bitrate?: number;
  readonly tracks: readonly (VideoTrackSpec | AudioTrackSpec)[];
  /** Tracks that no rendition has; absent where there are none. */
  readonly leftOut?: readonly LeftOutTracks[];
}

/** Tracks of one kind that are not played. */
export interface LeftOutTracks {
  readonly type: "audio" | "captions";
  readonly count: number;
  /** Language tags that the file declares for them, each once. */
  readonly languages: readonly string[];
}

/** A file that plays: its contents, and the renditions and MP4s that were made of it, complete and durable. */
export interface MadeMedia {
  readonly spec: VideoSpec;
  readonly media: MediaIndex;
}

export interface AssetRun extends TaskRun {
  /** The file was read. `media` is what can be watched until everything is made; null if nothing can. A later run repeats the call. */
  scanned(spec: VideoSpec, media: MediaIndex | null): Promise<void>;
}

export interface AssetProcessor {
  /**
   * Make everything that plays of a file. Throws `TaskFailed` for a file that cannot be processed, and other errors for temporary faults (a killed
   * child, an unreachable store): the next run then continues behind the finished work of this one.
   */
  process(work: AssetWork, run: AssetRun): Promise<MadeMedia>;
}
