/** What becomes of a customer's file: the domain floor asks the media floor to process it, and keeps what the media floor tells of it. */

import type { MediaIndex } from "./media-index.ts";

/** The object keys of everything that belongs to an asset begin with this: ids alone, never a user's words. */
export function assetPrefix(projectId: string, assetId: string): string {
  return `v1/${projectId}/asset/${assetId}/`;
}

/** One rung that the customer asked for; without a size it is the source's. */
export interface AssetProfile {
  readonly name?: string;
  /** Pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Bits per second. */
  readonly bitrate: number;
  /** Frames per second, divided by `fpsDen`; absent or 0 for the source's own. */
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
  /** The file as it came, whole and durable in the object store. */
  readonly sourceKey: string;
  readonly sourceBytes: number;
  /** Rises when the owner starts anew: names of files begin with it, as no address ever names two things. */
  readonly attempt: number;
  /** Where the files that are made go: the same for each run until the owner starts anew, so a run may find those of one that was killed. */
  readonly outPrefix: string;
  /** Null for the default ladder. */
  readonly profiles: readonly AssetProfile[] | null;
  /** MP4s of all rungs, however long the video is. */
  readonly staticMp4: boolean;
  readonly targetSegmentSeconds: number | null;
  /** From 0 to 1: where an earlier run got to. */
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

/** What the file holds, as a look into it found. */
export interface VideoSpec {
  readonly format: string;
  /** Seconds. */
  readonly duration: number;
  /** Bits per second. */
  readonly bitrate?: number;
  readonly tracks: readonly (VideoTrackSpec | AudioTrackSpec)[];
}

/**
 * Where the media floor tells how the processing of an asset goes. Every call may be repeated, as a job may run twice. A call about an asset that
 * nobody wants any more throws `AssetNotWanted`: stop, and let it through.
 */
export interface AssetLedger {
  /** First of each run. Null where there is nothing to do: the asset is ready, failed or deleted. */
  beginProcessing(assetId: string): Promise<AssetWork | null>;
  /** How much is done, from 0 to 1. May be called as often as one likes; it never goes back. */
  progressed(assetId: string, fraction: number): Promise<void>;
  /** What the file holds is known. */
  probed(assetId: string, videoSpec: VideoSpec): Promise<void>;
  /** It can be watched from now on, with these renditions. Called again as more are there; each call replaces the last. */
  playable(assetId: string, media: MediaIndex): Promise<void>;
  /** All is made, and durable. */
  finished(assetId: string, media: MediaIndex): Promise<void>;
  /** It cannot be made, however often it is tried. `sentence`, for the owner: what is wrong with the file, and what to do. */
  failed(assetId: string, sentence: string): Promise<void>;
}

/** The asset was deleted, or is another job's by now. */
export class AssetNotWanted extends Error {
  readonly code = "asset-not-wanted";
}

export interface AssetProcessor {
  /**
   * Process the asset from `beginProcessing` to `finished` or `failed`. Rejects for what may heal by itself (a killed child, a store that is
   * away): then it is called again later. Stops soon after `signal` is aborted.
   */
  process(assetId: string, ledger: AssetLedger, signal: AbortSignal): Promise<void>;
}
