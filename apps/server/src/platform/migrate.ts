import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Log } from "./log.ts";
import { StartupError } from "./startup-error.ts";

/** An arbitrary number, the same in every Weir, so that processes that start together migrate one after the other. */
export const MIGRATION_LOCK = 7_319_402_551;

/**
 * The first line of a migration says what it does to older builds, as `-- expand` or `-- contract`. An `expand` adds what they need not know, so they go on beside a newer
 * one. A `contract` takes away what they use, so it waits until none of them runs. Null for those of before this rule, which older builds refuse.
 */
type MigrationKind = "expand" | "contract" | null;

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly digest: string;
  readonly kind: MigrationKind;
}

interface Applied {
  readonly name: string;
  readonly digest: string;
  readonly kind?: MigrationKind;
}

/** What a database has of the migrations that this build knows. */
export interface SchemaState {
  /** The newest that this build knows. */
  readonly level: number;
  /** The oldest that is not applied, because an older build runs; null if all are. */
  readonly waitsFor: number | null;
}

/** Whether nobody runs who does not know the migration with this number. */
export type MayContract<Schema> = (trx: Transaction<Schema>, number: number) => Promise<boolean>;

/**
 * Bring the database to the schema of `folder` (`0001-name.sql`, numbered without gaps). Forward only; all files that may be applied run in one transaction,
 * so a failure leaves nothing behind. Throws `StartupError` for a database that a newer Weir wrote, unless it has only added to it.
 */
export async function migrate<Schema>(
  db: Kysely<Schema>,
  folder: string,
  log: Log,
  mayContract: MayContract<Schema> = async () => true,
): Promise<SchemaState> {
  return migrateBy(db, await readMigrations(folder), log, mayContract);
}

/** The same, up to the schema with these migrations, which is one of this Weir or of an earlier one. */
export async function migrateTo<Schema>(
  db: Kysely<Schema>,
  folder: string,
  history: readonly Applied[],
  log: Log,
): Promise<void> {
  const migrations = await readMigrations(folder);
  const names = new Set(history.map(({ name }) => name));
  checkHistory(history, migrations, false);
  const wanted = migrations.filter(({ name }) => names.has(name));
  await migrateBy(db, wanted, log, async () => true);
}

/**
 * To be called by a build in the transaction in which it tells that it runs: from then on nothing that it uses is taken away. Throws `StartupError` where that has
 * happened before.
 */
export async function refuseNewerSchema<Schema>(trx: Transaction<Schema>, level: number): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${sql.lit(MIGRATION_LOCK)})`.execute(trx);
  const { rows } = await sql<Applied>`
    select name from migration where number > ${level}::int and kind is distinct from 'expand' order by number desc limit 1`.execute(
    trx,
  );
  const [newest] = rows;
  if (newest) throw writtenByNewer(newest, `number ${level}`);
}

async function migrateBy<Schema>(
  db: Kysely<Schema>,
  migrations: readonly Migration[],
  log: Log,
  mayContract: MayContract<Schema>,
): Promise<SchemaState> {
  const { waiting, ...done } = await db.transaction().execute(async (trx) => {
    // A server may have a limit of its own.
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(trx);
    const applied = await readApplied(trx);
    checkHistory(applied, migrations, true);
    const names = new Set(applied.map(({ name }) => name));
    const [pending, waiting]: [Migration[], Migration[]] = [[], []];
    for (const migration of migrations) {
      if (names.has(migration.name)) continue;
      // Nobody runs on an empty database.
      const mayApply = migration.kind !== "contract" || names.size === 0 || (await mayContract(trx, migration.number));
      if (mayApply) await apply(trx, migration);
      (mayApply ? pending : waiting).push(migration);
    }
    return { from: applied.at(-1)?.name ?? null, to: pending.at(-1)?.name, migrations: pending.length, waiting };
  });
  if (done.to) log.info(done, done.from === null ? "created the tables of the database" : "migrated the database");
  if (waiting.length > 0)
    log.info(
      { migrations: waiting.map(({ name }) => name) },
      "migrations wait until no process of an older build runs",
    );
  return { level: migrations.at(-1)?.number ?? 0, waitsFor: waiting[0]?.number ?? null };
}

async function readApplied<Schema>(trx: Transaction<Schema>): Promise<Applied[]> {
  await sql`
    create table if not exists migration (
      number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now()
    )`.execute(trx);
  const { rows: columns } = await sql`
    select from pg_attribute where attrelid = 'migration'::regclass and attname = 'kind' and not attisdropped`.execute(
    trx,
  );
  if (columns.length === 0) await sql`alter table migration add column kind text`.execute(trx);
  const { rows } = await sql<Applied>`select name, digest, kind from migration order by number`.execute(trx);
  return rows;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const number = Number.parseInt(file, 10);
      if (number !== index + 1) throw new Error(`${join(folder, file)} should have number ${index + 1}`);
      const text = await readFile(join(folder, file), "utf8");
      return {
        number,
        name: file.slice(0, -".sql".length),
        text,
        digest: createHash("sha256").update(text).digest("hex"),
        kind: kindOf(text),
      };
    }),
  );
}

function kindOf(text: string): MigrationKind {
  const [, kind] = /^-- (expand|contract)\n/.exec(text) ?? [];
  return kind === "expand" || kind === "contract" ? kind : null;
}

/** `mayAdd`: of a newer build, what it has added is no hindrance. */
function checkHistory(applied: readonly Applied[], migrations: readonly Migration[], mayAdd: boolean): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = migrations.at(-1);
  for (const each of applied) {
    const own = known.get(Number.parseInt(each.name, 10));
    if (own?.digest === each.digest) continue;
    if (own)
      throw new StartupError(
        `the database has ${each.name}, which is not the ${own.name} of this Weir: start the version that wrote it`,
      );
    if (!mayAdd || each.kind !== "expand") throw writtenByNewer(each, newest?.name ?? "none");
  }
}

function writtenByNewer({ name }: Pick<Applied, "name">, newest: string): StartupError {
  return new StartupError(
    `the database was written by a newer Weir (schema ${name}, this one knows ${newest}): start that version, or restore a backup from before it`,
  );
}

async function apply<Schema>(trx: Transaction<Schema>, { number, name, text, digest, kind }: Migration): Promise<void> {
  try {
    await sql.raw(text).execute(trx);
  } catch (error) {
    throw new Error(`migration ${name} failed, and the database is as before: ${(error as Error).message}`, {
      cause: error,
    });
  }
  await sql`insert into migration (number, name, digest, kind) values (${number}, ${name}, ${digest}, ${kind})`.execute(
    trx,
  );
}
