import type { MediaIndex, OriginalFile, StoredRendition } from "../../ports/index.ts";
import type { AssetRow, Db, Trx } from "../schema.ts";
import { hasOriginal } from "./asset-record.ts";

/** The index as JSON, which has no maps. */
interface StoredMedia extends Omit<MediaIndex, "renditions"> {
  readonly renditions: readonly (Omit<StoredRendition, "spanBytes"> & {
    readonly spanBytes: readonly (readonly [string, number])[];
  })[];
}

export async function writeAssetMedia(trx: Trx, assetId: string, { renditions, ...media }: MediaIndex): Promise<void> {
  const stored: StoredMedia = {
    ...media,
    renditions: renditions.map((rendition) => ({ ...rendition, spanBytes: [...rendition.spanBytes] })),
  };
  const row = { media: JSON.stringify(stored) };
  await trx
    .insertInto("asset_media")
    .values({ asset_id: assetId, ...row })
    .onConflict((conflict) => conflict.column("asset_id").doUpdateSet(row))
    .execute();
}

/** The media of an asset; null while nothing of it plays. Does not check who may watch it. */
export async function readAssetMedia(db: Db, assetId: string): Promise<MediaIndex | null> {
  const row = await db
    .selectFrom("asset_media")
    .innerJoin("asset", "asset.id", "asset_media.asset_id")
    .select(["media", "phase", "keep_original", "source_key", "size", "hash", "name"])
    .where("asset_id", "=", assetId)
    .executeTakeFirst();
  if (!row) return null;
  const { renditions, ...media } = row.media as StoredMedia;
  const original = originalOf(row);
  return {
    ...media,
    ...(original && { original }),
    // A reader must not keep it before the asset is ready.
    ...(row.phase !== "ready" && { isGrowing: true }),
    renditions: renditions.map((rendition) => ({ ...rendition, spanBytes: new Map(rendition.spanBytes) })),
  };
}

function originalOf(
  row: Pick<AssetRow, "phase" | "keep_original" | "source_key" | "size" | "hash" | "name">,
): OriginalFile | null {
  const sha256 = row.hash?.find(({ algorithm }) => algorithm === "sha256")?.hash;
  if (!hasOriginal(row) || row.source_key === null || row.size === null || sha256 === undefined) return null;
  return { key: row.source_key, bytes: Number(row.size), sha256, name: row.name };
}
