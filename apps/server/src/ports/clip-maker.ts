/** A stretch of stored media becomes media of its own: the domain floor says which, the media floor cuts it. */

import type { AssetLedger } from "./asset-ledger.ts";
import type { MediaIndex } from "./media-index.ts";

export interface ClipWork {
  /** The asset that the clip becomes. */
  readonly assetId: string;
  readonly projectId: string;
  /** Where the files of the clip go. */
  readonly outPrefix: string;
  /** What is cut. */
  readonly parent: MediaIndex;
  /** From this moment on and before that one, in milliseconds of the parent's program date-time. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ClipMaker {
  /** Make the clip, up to `finished` or `failed`. Rejects for what may heal by itself; then it is called again later. */
  make(work: ClipWork, ledger: AssetLedger, signal: AbortSignal): Promise<void>;
}
