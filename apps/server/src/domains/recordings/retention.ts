import { sql } from "kysely";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { recordingPrefix } from "../../ports/index.ts";
import type { Deps } from "../deps.ts";
import type { Duty } from "../duty.ts";

/** Recordings deleted in one round; a day of several renditions has thousands of objects. */
const BATCH = 5;
const TRY_AGAIN_MS = 60_000;

export interface RetentionDeps extends Deps {
  readonly store: Pick<ObjectStore, "deletePrefix">;
}

interface DueRow {
  id: string;
  project_id: string;
  purge_at: string;
}

const due = (now: number) => sql`from session where purge_at <= ${now}::bigint`;

/**
 * Delete the objects, then the index rows, of deleted recordings after their grace period. Each step can be repeated: `purge_at` is cleared
 * last, so an interrupted deletion is due again. A span that reaches the store after the deletion sets it again.
 */
export const purgeDeletedRecordings: Duty<RetentionDeps> = {
  what: "remove deleted recordings",
  isDue: (now) => sql`exists (select ${due(now)})`,
  run: purge,
};

async function purge({ db, clock, log, store }: RetentionDeps): Promise<void> {
  const now = clock.now();
  const { rows } = await sql<DueRow>`
    select id, project_id, purge_at ${due(now)} order by purge_at, id limit ${BATCH}`.execute(db);
  for (const { id, project_id: projectId, purge_at: purgeAt } of rows) {
    try {
      await store.deletePrefix(recordingPrefix(projectId, id));
    } catch (error) {
      log.warn(
        { err: error, sessionId: id },
        "could not remove the bytes of a deleted recording; retrying in a minute",
      );
      await setPurgeAt(db, id, purgeAt, now + TRY_AGAIN_MS);
      continue;
    }
    await db.deleteFrom("recording_segment").where("session_id", "=", id).execute();
    await db.deleteFrom("recording_span").where("session_id", "=", id).execute();
    await db.deleteFrom("recording_rendition").where("session_id", "=", id).execute();
    await setPurgeAt(db, id, purgeAt, null);
    log.info({ sessionId: id }, "removed the bytes of a deleted recording");
  }
}

/** Unless it was set again in the meantime. */
async function setPurgeAt(db: Deps["db"], id: string, before: string, next: number | null): Promise<void> {
  await sql`update session set purge_at = ${next}::bigint where id = ${id} and purge_at = ${before}::bigint`.execute(
    db,
  );
}
