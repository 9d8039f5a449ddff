/** Processing of a customer's file: the domain floor asks the media floor to process it, and stores the results that the media floor reports. */

import type { MediaIndex } from "./media-index.ts";

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
  /** Progress of an earlier run, from 0 to 1. */
  readonly progress: number;
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

/**
 * Receives the progress of an asset's processing. The caller may repeat every call, because a job may run twice. A call about an asset that was
 * deleted or taken over throws `AssetNotWanted`; the caller must stop and let the error through.
 */
export interface AssetLedger {
  /** The first call of each run. Null if there is nothing to do: the asset is ready, failed or deleted. */
  beginProcessing(assetId: string): Promise<AssetWork | null>;
  /** Progress from 0 to 1. The caller may report as often as it likes; progress never decreases. */
  progressed(assetId: string, fraction: number): Promise<void>;
  /** Reports the contents of the file. */
  probed(assetId: string, videoSpec: VideoSpec): Promise<void>;
  /**
   * The asset can be watched from now on, with these renditions. The caller repeats this call when there are more; each call replaces the
   * previous one.
   */
  playable(assetId: string, media: MediaIndex): Promise<void>;
  /** Every rendition is complete and durable. */
  finished(assetId: string, media: MediaIndex): Promise<void>;
  /** Processing failed for good. `sentence` tells the owner what is wrong with the file and what to do. */
  failed(assetId: string, sentence: string): Promise<void>;
}

/** The asset was deleted, or another job has taken it over. */
export class AssetNotWanted extends Error {
  readonly code = "asset-not-wanted";
}

/** A run ended early, and another may succeed. The message names the cause. It is shown to the owner of the file. */
export class ProcessingBroke extends Error {
  readonly code = "processing-broke";
}

export interface AssetProcessor {
  /**
   * Process the asset from `beginProcessing` to `finished` or `failed`. Rejects for temporary faults (a killed child, an unreachable store); the
   * caller then tries again later. Stops soon after `signal` is aborted.
   */
  process(assetId: string, ledger: AssetLedger, signal: AbortSignal): Promise<void>;
}
