/** Clips: the domain floor chooses a span of stored media, and the media floor cuts it into media of its own. */

import { type AssetLedger, assetPrefix } from "./asset-ledger.ts";
import type { MediaIndex } from "./media-index.ts";

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

/** The live window of a session that is not recorded, as a clip needs it. */
export interface ClipWindow {
  readonly sessionId: string;
  readonly projectId: string;
  /** The asset that the clip becomes. */
  readonly assetId: string;
  /** Milliseconds of program date-time. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Where the media node keeps it until the clip is made. */
export function windowPrefix({ projectId, assetId }: Pick<ClipWindow, "projectId" | "assetId">): string {
  return `${assetPrefix(projectId, assetId)}window/`;
}

export interface ClipMaker {
  /** Make the clip, up to `finished` or `failed`. Rejects for temporary faults; the caller then tries again later. */
  make(work: ClipWork, ledger: AssetLedger, signal: AbortSignal): Promise<void>;
  /** The window that a media node has kept under this prefix; null as long as it has not. */
  findWindow(prefix: string): Promise<MediaIndex | null>;
  dropWindow(prefix: string): Promise<void>;
}
