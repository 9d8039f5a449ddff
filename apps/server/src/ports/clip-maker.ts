/** Clips: the domain floor chooses a span of stored media, and the media floor cuts it into media of its own. */

import { assetPrefix, type MadeMedia } from "./asset-processor.ts";
import type { MediaIndex } from "./media-index.ts";
import type { TaskRun } from "./task-run.ts";

export interface ClipWork {
  /** The asset that holds the clip. */
  readonly assetId: string;
  readonly projectId: string;
  /** Folder for the files of the clip. */
  readonly outPrefix: string;
  /** The media to cut from. */
  readonly parent: MediaIndex;
  /** Start (inclusive) and end (exclusive) of the clip, in milliseconds of the parent's program date-time. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** What a clip shows of a session that is running, or has just ended. */
export interface ClipMoments {
  readonly sessionId: string;
  readonly projectId: string;
  /** The asset that the clip becomes. */
  readonly assetId: string;
  /** Milliseconds of program date-time. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Where media nodes keep what a clip needs of a session that is not recorded, until the clip is made. */
export function windowPrefix({ projectId, assetId }: Pick<ClipMoments, "projectId" | "assetId">): string {
  return `${assetPrefix(projectId, assetId)}window/`;
}

export interface ClipMaker {
  /** Make the clip. Throws `TaskFailed` if there is nothing to cut, and other errors for temporary faults: the next run then starts over. */
  make(work: ClipWork, run: TaskRun): Promise<MadeMedia>;
  /** What media nodes have kept under this prefix; null if nothing. */
  findWindow(prefix: string): Promise<MediaIndex | null>;
  dropWindow(prefix: string): Promise<void>;
}
