import { sql } from "kysely";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { assetPrefix } from "../../ports/index.ts";
import type { Duty } from "../duty.ts";
import type { EventDeps } from "../events/index.ts";
import { isGivenUp } from "../nodes/index.ts";
import type { DomainConfig } from "../settings.ts";
import type { QueueTask } from "../tasks/index.ts";
import { lockAsset, moveAsset } from "./asset-change.ts";
import { type QueuedAsset, queueAsset } from "./asset-task.ts";

const BATCH = 100;
const TRY_AGAIN_MS = 60_000;
/** A running worker reports progress more often than this. */
const QUIET_MS = 60_000;

export interface AssetUpkeepDeps extends EventDeps, Pick<DomainConfig, "spoolWaitMs"> {
  readonly store: Pick<ObjectStore, "delete" | "deletePrefix">;
  readonly queueTask: QueueTask;
}

const overdue = (now: number) =>
  sql`from asset where phase = 'uploading' and upload_expires_at <= ${now}::bigint and deleted_at is null`;

/** Abandoned uploads fail, so that they no longer count against the limit. */
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

/** Fail an upload that expires by `by`: later ones have received bytes in the meantime. */
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

/** Files that are complete, and only in the spool of a node that is not expected back. */
const lost = (waitMs: number) => sql`
  from asset a join node n on n.id = a.upload_node_id
  where a.phase = 'waiting' and a.source_key is null and a.deleted_at is null and ${isGivenUp(sql.ref("n"), waitMs)}`;

/** Their assets fail: nobody else has a byte of them. */
export const failLostUploads: Duty<AssetUpkeepDeps> = {
  what: "give up the uploads of lost nodes",
  isDue: (_now, { spoolWaitMs }) => sql`exists (select ${lost(spoolWaitMs)})`,
  async run({ db, clock, events, spoolWaitMs }) {
    const { rows } = await sql<{ id: string }>`select a.id ${lost(spoolWaitMs)} order by a.id limit ${BATCH}`.execute(
      db,
    );
    const error = "The server that received the file was lost: request another upload and upload the file again.";
    for (const { id } of rows) {
      await db.transaction().execute(async (trx) => {
        const row = await lockAsset(trx, id);
        const still = await sql`select ${lost(spoolWaitMs)} and a.id = ${id}`.execute(trx);
        if (!row || still.rows.length === 0) return;
        await events.append(trx, await moveAsset(trx, row, "fail", { at: clock.now(), set: { error } }));
      });
    }
  },
};

const quiet = (now: number) => sql`
  from asset where phase in ('waiting', 'processing') and deleted_at is null
    and (source_key is not null or source->>'type' in ('url', 'clip')) and updated_at <= ${now - QUIET_MS}::bigint`;

/** Queue assets that wait for a worker: a kill between the row and its job leaves an asset without one. A job that exists is not affected. */
export const queueQuietAssets: Duty<AssetUpkeepDeps> = {
  what: "queue assets",
  isDue: (now) => sql`exists (select ${quiet(now)})`,
  async run({ db, clock, queueTask }) {
    const { rows } = await sql<QueuedAsset>`
      select id, project_id, phase, source_key, source ${quiet(clock.now())} order by random() limit ${BATCH}`.execute(
      db,
    );
    for (const row of rows) await queueAsset(queueTask, row);
  },
};

const unwanted = sql`from asset where phase = 'ready' and not keep_original and source_key is not null`;

/** Delete originals that their owners do not keep, once the renditions are ready. The row is updated last, so that a kill loses track of no file. */
export const removeUnwantedOriginals: Duty<AssetUpkeepDeps> = {
  what: "remove originals",
  isDue: () => sql`exists (select ${unwanted})`,
  async run({ db, log, store }) {
    // At random, so that a hundred files that cannot be deleted do not hold up others.
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
