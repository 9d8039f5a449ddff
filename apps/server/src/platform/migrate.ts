import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Log } from "./log.ts";
import { StartupError } from "./startup-error.ts";

/** An arbitrary number, the same in every Weir, so that processes that start together migrate one after the other. */
const LOCK = 7_319_402_551;

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

interface Applied {
  readonly number: number;
  readonly name: string;
  readonly digest: string;
}

/**
 * Bring the database to the schema of `folder` (`0001-name.sql`, numbered without gaps). Forward only; all pending files run in one transaction,
 * so a failure leaves nothing behind. Throws `StartupError` for a database that a newer Weir wrote.
 */
export async function migrate<Schema>(db: Kysely<Schema>, folder: string, log: Log): Promise<void> {
  await migrateBy(db, await readMigrations(folder), log);
}

/** The same, up to the schema with these migrations, which is one of this Weir or of an earlier one. */
export async function migrateTo<Schema>(
  db: Kysely<Schema>,
  folder: string,
  history: readonly Omit<Applied, "number">[],
  log: Log,
): Promise<void> {
  const migrations = await readMigrations(folder);
  checkHistory(history, migrations);
  await migrateBy(db, migrations.slice(0, history.length), log);
}

async function migrateBy<Schema>(db: Kysely<Schema>, migrations: readonly Migration[], log: Log): Promise<void> {
  const done = await db.transaction().execute(async (trx) => {
    // A server may have a limit of its own.
    await sql`set local statement_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`.execute(trx);
    await sql`
      create table if not exists migration (
        number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now()
      )`.execute(trx);
    const { rows } = await sql<Applied>`select number, name, digest from migration order by number`.execute(trx);
    checkHistory(rows, migrations);
    const pending = migrations.slice(rows.length);
    for (const migration of pending) await apply(trx, migration);
    return { from: rows.at(-1)?.name ?? null, to: pending.at(-1)?.name, migrations: pending.length };
  });
  if (done.to) log.info(done, done.from === null ? "created the tables of the database" : "migrated the database");
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
      };
    }),
  );
}

function checkHistory(applied: readonly Omit<Applied, "number">[], migrations: readonly Migration[]): void {
  const newest = applied.at(-1);
  if (newest && applied.length > migrations.length) {
    throw new StartupError(
      `the database was written by a newer Weir (schema ${newest.name}, this one knows ${migrations.at(-1)?.name ?? "none"}): start that version, or restore a backup from before it`,
    );
  }
  for (const [index, { name, digest }] of applied.entries()) {
    if (migrations[index]?.digest === digest) continue;
    throw new StartupError(
      `the database has ${name}, which is not the ${migrations[index]?.name} of this Weir: start the version that wrote it`,
    );
  }
}

async function apply<Schema>(trx: Transaction<Schema>, { number, name, text, digest }: Migration): Promise<void> {
  try {
    await sql.raw(text).execute(trx);
  } catch (error) {
    throw new Error(`migration ${name} failed, and the database is as before: ${(error as Error).message}`, {
      cause: error,
    });
  }
  await sql`insert into migration (number, name, digest) values (${number}, ${name}, ${digest})`.execute(trx);
}
