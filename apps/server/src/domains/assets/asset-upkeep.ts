import { sql } from "kysely";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { assetPrefix } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";
import type { EventLog } from "../events/index.ts";
import { lockAsset, moveAsset } from "./asset-change.ts";
import type { QueueAsset } from "./upload-desk.ts";

const BATCH = 100;
const TRY_AGAIN_MS = 60_000;
/** A worker that works on an asset moves it on more often than this. */
const QUIET_MS = 60_000;

export interface AssetUpkeepDeps extends Deps {
  readonly events: EventLog;
  readonly store: Pick<ObjectStore, "delete" | "deletePrefix">;
  readonly queueAsset: QueueAsset;
}

const overdue = (now: number) =>
  sql`from asset where phase = 'uploading' and upload_expires_at <= ${now}::bigint and deleted_at is null`;

/** Uploads that nobody goes on with fail, so that they count for nothing any more. */
export const expireUploads: Duty<AssetUpkeepDeps> = {
  what: "expire uploads",
  isDue: (now) => sql`exists (select ${overdue(now)})`,
  run: expire,
};

async function expire({ db, clock, events }: AssetUpkeepDeps): Promise<void> {
  const now = clock.now();
  const { rows } = await sql<{ id: string }>`
    select id ${overdue(now)} order by upload_expires_at limit ${BATCH}`.execute(db);
  const error = "The upload was not finished in time: request another one and upload the file again.";
  for (const { id } of rows) await failUpload({ db, clock, events }, id, now, error);
}

/** The upload fails, unless it has gone on since: then it expires later than `by`. */
export async function failUpload(
  { db, clock, events }: Pick<AssetUpkeepDeps, "db" | "clock" | "events">,
  id: string,
  by: number,
  error: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockAsset(trx, id);
    if (row?.phase !== "uploading" || row.deleted_at !== null || Number(row.upload_expires_at) > by) return;
    await events.append(trx, await moveAsset(trx, row, "fail", { at: clock.now(), set: { error } }));
  });
}

const quiet = (now: number) => sql`
  from asset where phase in ('waiting', 'processing') and deleted_at is null
    and (source_key is not null or source->>'type' in ('url', 'clip')) and updated_at <= ${now - QUIET_MS}::bigint`;

/** Queue what waits for a worker: where a kill came between a row and its job, there is none. One that is queued or runs stays as it is. */
export const queueQuietAssets: Duty<AssetUpkeepDeps> = {
  what: "queue assets",
  isDue: (now) => sql`exists (select ${quiet(now)})`,
  async run({ db, clock, queueAsset }) {
    const { rows } = await sql<Parameters<QueueAsset>[0]>`
      select id, project_id, source_key, source ${quiet(clock.now())} order by random() limit ${BATCH}`.execute(db);
    for (const row of rows) await queueAsset(row);
  },
};

const unwanted = sql`from asset where phase = 'ready' and not keep_original and source_key is not null`;

/** Files whose renditions are made, and whose owners do not keep them. The row forgets the file last, so that a kill loses no file. */
export const removeUnwantedOriginals: Duty<AssetUpkeepDeps> = {
  what: "remove originals",
  isDue: () => sql`exists (select ${unwanted})`,
  async run({ db, log, store }) {
    // At random, so that a hundred that cannot be removed keep back no others.
    const { rows } = await sql<{ id: string; source_key: string }>`
      select id, source_key ${unwanted} order by random() limit ${BATCH}`.execute(db);
    for (const { id, source_key: key } of rows) {
      try {
        await store.delete(key);
        await sql`update asset set source_key = null where id = ${id} and source_key = ${key}`.execute(db);
      } catch (error) {
        log.warn({ err: error, assetId: id }, "could not remove the original of an asset; it is tried again");
      }
    }
  },
};

const deleted = (now: number) => sql`from asset where purge_at <= ${now}::bigint`;

/** Remove the objects, then the rows, of deleted assets that can no longer be restored. */
export const purgeDeletedAssets: Duty<AssetUpkeepDeps> = {
  what: "remove deleted assets",
  isDue: (now) => sql`exists (select ${deleted(now)})`,
  run: purge,
};

async function purge({ db, clock, log, store }: AssetUpkeepDeps): Promise<void> {
  const now = clock.now();
  const { rows } = await sql<{ id: string; project_id: string }>`
    select id, project_id ${deleted(now)} order by purge_at, id limit ${BATCH}`.execute(db);
  for (const { id, project_id: projectId } of rows) {
    try {
      await store.deletePrefix(assetPrefix(projectId, id));
      await sql`delete from asset where id = ${id} and purge_at <= ${now}::bigint`.execute(db);
      log.info({ assetId: id }, "removed the bytes of a deleted asset");
    } catch (error) {
      log.warn({ err: error, assetId: id }, "could not remove the bytes of a deleted asset; retrying in a minute");
      await sql`update asset set purge_at = ${now + TRY_AGAIN_MS}::bigint where id = ${id} and purge_at is not null`.execute(
        db,
      );
    }
  }
}
