import type { AssetCreation, CreateAssetOptions, WeirClient } from "@weir/client";

/** A `WeirClient` of this package or of `@weir/client`, as the hooks of streams use it. */
export interface StreamReader {
  readonly streams: Pick<WeirClient["streams"], "get" | "health" | "events">;
}

/** A `WeirClient` of this package or of `@weir/client`, as `useUpload` uses it. */
export interface Uploader {
  createAsset(
    given: { readonly sources: readonly { readonly name: string; readonly file: Blob }[] },
    options?: CreateAssetOptions,
  ): Pick<AssetCreation, "assets" | "pause" | "resume">;
}
