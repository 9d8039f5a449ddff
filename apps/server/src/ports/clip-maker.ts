/** Clips: the domain floor chooses a span of stored media, and the media floor cuts it into media of its own. */

import type { AssetLedger } from "./asset-ledger.ts";
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

export interface ClipMaker {
  /** Make the clip, up to `finished` or `failed`. Rejects for temporary faults; the caller then tries again later. */
  make(work: ClipWork, ledger: AssetLedger, signal: AbortSignal): Promise<void>;
}
