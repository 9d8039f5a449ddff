import type { MediaIndex, StoredRendition } from "../../ports/index.ts";
import type { Db, Trx } from "../schema.ts";

/** As it lies in the database: JSON has no maps. */
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

/** What plays of an asset; null while nothing does. The gate has asked who may see it. */
export async function readAssetMedia(db: Db, assetId: string): Promise<MediaIndex | null> {
  const row = await db.selectFrom("asset_media").select("media").where("asset_id", "=", assetId).executeTakeFirst();
  if (!row) return null;
  const { renditions, ...media } = row.media as StoredMedia;
  return {
    ...media,
    renditions: renditions.map((rendition) => ({ ...rendition, spanBytes: new Map(rendition.spanBytes) })),
  };
}
