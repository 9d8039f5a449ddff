import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import type { EventDeps } from "../events/index.ts";
import type { DomainConfig } from "../settings.ts";
import { assetEvent, lockAsset, writeAsset } from "./asset-change.ts";

const BATCH = 100;
const DAY_MS = 86_400_000;
/** Enough for current downloads to end, and for an operator to undo a mistake. */
const GRACE_MS = 3_600_000;

export interface AssetExpiryDeps extends EventDeps, Pick<DomainConfig, "assetDays"> {
  readonly mediaControl: Pick<MediaControl, "accessChanged">;
}

/** Delete assets whose retention, counted from their creation, is over. Their bytes are deleted an hour later. */
export async function expireAssets({
  db,
  clock,
  log,
  events,
  mediaControl,
  assetDays,
}: AssetExpiryDeps): Promise<void> {
  for (;;) {
    const now = clock.now();
    const { rows } = await sql<{ id: string }>`
      select id from asset where deleted_at is null and phase in ('ready', 'failed')
        and created_at < ${now}::bigint - ${DAY_MS}::bigint * coalesce(retention_days, nullif(${assetDays}::int, 0))
      order by created_at, id limit ${BATCH}`.execute(db);
    for (const { id } of rows) {
      const playbackId = await db.transaction().execute(async (trx) => {
        const row = await lockAsset(trx, id);
        if (!row || row.deleted_at !== null) return null;
        await writeAsset(trx, row, { at: now, set: { deleted_at: now, purge_at: now + GRACE_MS } });
        await events.append(trx, [assetEvent(row, "asset.updated", now), assetEvent(row, "asset.deleted", now)]);
        return row.playback_id;
      });
      if (playbackId !== null) await mediaControl.accessChanged(playbackId);
    }
    if (rows.length > 0) log.info({ assets: rows.length }, "deleted assets that were kept long enough");
    if (rows.length < BATCH) return;
  }
}
