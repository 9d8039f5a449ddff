import { sql } from "kysely";
import type { JobKind } from "../platform/queue/job.ts";
import type { ObjectStore } from "../platform/storage/object-store.ts";
import { assetPrefix, recordingPrefix, transcodePrefix } from "../ports/index.ts";
import type { Deps } from "./deps.ts";
import { isId } from "./ids.ts";
import type { Db } from "./schema.ts";

const EVERY_SECONDS = 6 * 3_600;
const MAX_SECONDS = 6 * 3_600;
/** The rows of files are written soon after the files, or before them. */
const GRACE_MS = 86_400_000;
const BATCH = 500;

export interface OrphanSweepDeps extends Deps {
  readonly store: Pick<ObjectStore, "children" | "deletePrefix">;
}

/** Owners of files in the object store: the folder name, the table, and the keys of one owner. */
const KINDS = [
  { folder: "rec", table: "session", prefixOf: recordingPrefix },
  { folder: "asset", table: "asset", prefixOf: assetPrefix },
  { folder: "transcode", table: "transcode", prefixOf: transcodePrefix },
] as const;

/**
 * Deletes files that belong to no recording, no asset and no running transcode, a day after they were first seen so: they come from an interrupted purge, or from an
 * older database.
 */
export function orphanSweepJob(deps: OrphanSweepDeps): JobKind {
  return {
    name: "sweep-orphans",
    maxAtOnce: 1,
    maxSeconds: MAX_SECONDS,
    maxRetries: 3,
    everySeconds: EVERY_SECONDS,
    run: () => sweepOrphans(deps),
  };
}

/** Checks only projects that the database knows: the bucket may belong to another Weir as well, or to one whose database was lost. */
export async function sweepOrphans({ db, clock, log, store }: OrphanSweepDeps): Promise<void> {
  const now = clock.now();
  const projects = await db.selectFrom("project").select("id").execute();
  for (const { id: projectId } of projects) {
    for (const { folder, table, prefixOf } of KINDS) {
      const names = (await store.children(`v1/${projectId}/${folder}/`)).filter(isId);
      for (let at = 0; at < names.length; at += BATCH) {
        const ids = names.slice(at, at + BATCH);
        const known = await knownIds(db, table, ids);
        await noteOrphans(
          db,
          ids.filter((id) => !known.has(id)).map((id) => prefixOf(projectId, id)),
          now,
        );
        await forgetOrphans(
          db,
          [...known].map((id) => prefixOf(projectId, id)),
        );
      }
    }
  }
  const { rows } = await sql<{ prefix: string }>`
    select prefix from orphan where seen_at <= ${now - GRACE_MS}::bigint order by prefix`.execute(db);
  for (const { prefix } of rows) {
    await store.deletePrefix(prefix);
    await forgetOrphans(db, [prefix]);
    log.info({ prefix }, "removed files that belonged to nothing");
  }
}

async function knownIds(
  db: Db,
  table: "session" | "asset" | "transcode",
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where id = any(${ids}::uuid[])`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

async function noteOrphans(db: Db, prefixes: readonly string[], now: number): Promise<void> {
  await sql`insert into orphan (prefix, seen_at) select p, ${now}::bigint from unnest(${prefixes}::text[]) as f(p)
    on conflict do nothing`.execute(db);
}

async function forgetOrphans(db: Db, prefixes: readonly string[]): Promise<void> {
  await sql`delete from orphan where prefix = any(${prefixes}::text[])`.execute(db);
}
