import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Kysely, sql } from "kysely";
import { systemClock } from "../../src/platform/clock.ts";
import { openDatabase } from "../../src/platform/database.ts";
import { silentLog } from "../../src/platform/log.ts";
import { migrate } from "../../src/platform/migrate.ts";
import { startEmbeddedPostgres } from "../../src/platform/postgres/embedded-postgres.ts";
import { makeTestFolder } from "../../src/platform/test-folder-rig.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations/", import.meta.url));
const DAY_MS = 86_400_000;

/** The data of an earlier version's server, and its API responses. */
interface StoredData {
  readonly takenAt: number;
  /** Names of the migrations in its database. */
  readonly migrations: readonly string[];
  /** Days of the tables partitioned by day, in milliseconds since the epoch. */
  readonly partitions: readonly { readonly table: string; readonly from: number; readonly to: number }[];
  /** The rows as JSON written by PostgreSQL, by table. */
  readonly rows: Readonly<Record<string, readonly string[]>>;
  readonly said: unknown;
}

export interface OpenedStoredData<Said> {
  readonly dataFolder: string;
  readonly said: Said;
}

/**
 * A data folder with the rows and objects in `stored/{name}`. Old events are deleted after some days, so every date is shifted by whole days,
 * as if the server had stopped yesterday.
 */
export async function openStoredData<Said>(name: string): Promise<OpenedStoredData<Said>> {
  const folder = fileURLToPath(new URL(`../stored/${name}/`, import.meta.url));
  const stored = moved(await readFile(join(folder, "data.json"), "utf8"));
  const dataFolder = makeTestFolder("stored");
  await cp(join(folder, "files"), dataFolder, { recursive: true });
  const postgres = await startEmbeddedPostgres({ dataFolder, clock: systemClock, log: silentLog });
  const database = await openDatabase<unknown>(postgres.address, silentLog, systemClock);
  await migrateTo(database.db, stored.migrations);
  await insert(database.db, stored);
  await database.close();
  await postgres.close();
  return { dataFolder, said: stored.said as Said };
}

function moved(text: string): StoredData {
  const { takenAt } = JSON.parse(text) as StoredData;
  const days = Math.floor(Date.now() / DAY_MS) - Math.floor(takenAt / DAY_MS) - 1;
  const isDate = (at: number) => Math.abs(at - takenAt) < DAY_MS;
  const later = (digits: string) => String(Number(digits) + (isDate(Number(digits)) ? days * DAY_MS : 0));
  return JSON.parse(text.replace(/(?<!\d)\d{13}(?!\d)/g, later)) as StoredData;
}

/** Creates the earlier version's tables. `migrate` refuses migrations that were changed since. */
async function migrateTo(db: Kysely<unknown>, names: readonly string[]): Promise<void> {
  const folder = makeTestFolder("migrations");
  for (const name of names) await cp(join(MIGRATIONS, `${name}.sql`), join(folder, `${name}.sql`));
  await migrate(db, folder, silentLog);
  await rm(folder, { recursive: true });
}

async function insert(db: Kysely<unknown>, { partitions, rows }: StoredData): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const { table, from, to } of partitions) {
      const name = `${table}_${new Date(from).toISOString().slice(0, 10).replaceAll("-", "")}`;
      await sql`create table ${sql.table(name)} partition of ${sql.table(table)}
        for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(trx);
    }
    // Rows are inserted table by table, regardless of foreign keys.
    await sql`set local session_replication_role = replica`.execute(trx);
    for (const [table, texts] of Object.entries(rows)) {
      await sql`insert into ${sql.table(table)} overriding system value
        select * from jsonb_populate_recordset(null::${sql.table(table)}, ${`[${texts.join()}]`}::jsonb)`.execute(trx);
    }
  });
}
