import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Log } from "../../platform/log.ts";
import { migrateTo } from "../../platform/migrate.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { BackupManifest } from "./backup-folder.ts";
import { loadRows, type RowsManifest } from "./rows.ts";
import { MIGRATIONS } from "./tables.ts";
import { connectClient } from "./weir-data.ts";

/** A database that is filled with the rows of another one. */
export interface NewDatabase {
  readonly connection: pg.ClientConfig;
  /** Those of the other database. */
  readonly migrations: BackupManifest["migrations"];
  /** Begins the note that the database keeps of where its rows came from, so that a run after a kill knows its own. Letters and digits. */
  readonly task: string;
  /** Whether an earlier run may have loaded the rows. */
  readonly goesOn: boolean;
  readonly log: Log;
}

/** Make the tables, without rows. Throws `StartupError` for a database with rows of others, or that a newer Weir wrote. */
export async function makeTables(target: NewDatabase): Promise<void> {
  await using opened = new AsyncDisposableStack();
  refuseOthers(await noteIn(await connectClient(target.connection, opened)), target);
  const pool = new pg.Pool({ ...target.connection, max: 1 });
  // A connection that is lost fails the statement that runs.
  pool.on("error", () => {});
  const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  await migrateTo(db, MIGRATIONS, target.migrations, target.log).finally(() => db.destroy());
}

/** Load the rows into the tables, in one transaction, unless an earlier run has. `version` tells them from those of another moment. */
export async function restoreRows(
  target: NewDatabase,
  folder: string,
  rows: RowsManifest,
  version: string,
): Promise<void> {
  await makeTables(target);
  await using opened = new AsyncDisposableStack();
  const client = await connectClient(target.connection, opened);
  const note = `${target.task} ${version}`.trim();
  await client.query("begin");
  // No server and no other command writes to it from here on.
  await client.query("lock table migration, account in access exclusive mode");
  const held = await noteIn(client);
  refuseOthers(held, target);
  if (held === note) return void (await client.query("rollback"));
  if (held !== null)
    throw new StartupError(
      "the database already holds these rows as of another moment, and the server has run since: empty the database and remove the new data folder, then begin again",
    );
  await loadRows(client, folder, rows);
  // In the same transaction, so that a run after a kill knows that it is done.
  await client.query(`comment on table migration is '${note}'`);
  await client.query("commit");
}

function refuseOthers(held: string | null, { task, goesOn }: NewDatabase): void {
  if (held !== null && !(goesOn && held.startsWith(task)))
    throw new StartupError("the database already holds the data of a Weir: set DATABASE_URL to an empty one");
}

/** What the database says of its rows; empty if it has rows and says nothing, null without rows. */
async function noteIn(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ note: string | null; has: boolean }>(
    "select to_regclass('account') is not null as has, obj_description(to_regclass('migration'), 'pg_class') as note",
  );
  if (rows[0]?.has !== true) return null;
  const { rowCount } = await client.query("select from account limit 1");
  return rowCount === 0 ? null : (rows[0].note ?? "");
}
