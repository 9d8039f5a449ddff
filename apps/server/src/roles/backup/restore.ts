import { existsSync } from "node:fs";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { openDataFolder, RESTORING_FILE } from "../../platform/data-folder.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { migrateTo } from "../../platform/migrate.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { openObjectStore } from "../../platform/storage/open-object-store.ts";
import { syncFolder } from "../../platform/storage/sync-folder.ts";
import { BackupFolder, type BackupManifest } from "./backup-folder.ts";
import { copyObjects } from "./copy-objects.ts";
import { restoreFiles } from "./frozen-files.ts";
import { ObjectIndex } from "./object-index.ts";
import { loadRows } from "./rows.ts";
import { MIGRATIONS } from "./tables.ts";
import { connectClient, connectionTo, type WeirDataSettings } from "./weir-data.ts";

export interface RestoreSettings extends WeirDataSettings {
  /** Folder of the backup. */
  readonly from: string;
  readonly onProgress: (what: string, done: number, of: number) => void;
}

/** What an interrupted restore has copied, beside its marker. */
const COPIED = "restoring.objects";
/** Made by the locks and their journals, and by the file system. */
const NOTHING = /^(weir|postgres)\.lock|^lost\+found$/;

/**
 * Make the server of the settings what the backup says: an empty data folder, with the embedded database or that of `DATABASE_URL`, and files or a
 * bucket, whatever the backup was taken from. The rows come last, in one transaction; until all is there, no server starts on the folder. Killed at
 * any point, the same call goes on.
 */
export async function restore(settings: RestoreSettings): Promise<BackupManifest> {
  const { config, clock, log, onProgress } = settings;
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await BackupFolder.open(settings.from), (one) => one.close());
  const manifest = await folder.manifest();
  if (manifest === null) throw new StartupError(`${settings.from} holds no complete backup: repeat weir backup`);
  folder.checkIndex(manifest);
  const dataFolder = openDataFolder(config.dataDir);
  const lock = await takeLock(join(dataFolder, "weir.lock"));
  if (lock === null) throw new StartupError(`a server runs on ${dataFolder}: restore into another, empty folder`);
  opened.defer(() => lock.release());
  const goesOn = await mark(dataFolder, manifest);

  const store = await openObjectStore({ dataFolder, config, clock, log });
  if (manifest.objects !== null) {
    const copied = opened.adopt(new ObjectIndex(join(dataFolder, COPIED)), (one) => one.close());
    copied.open();
    let done = 0;
    const onCopied = () => onProgress("objects", ++done, folder.index.size);
    const { objects: from, index: expected } = folder;
    await copyObjects({ from, to: store, keys: expected.keys(), copied, expected, onCopied });
    copied.close();
  }
  const damaged = await restoreFiles(folder.folderOf(manifest.id, "files"), dataFolder, manifest.files);
  if (damaged !== null)
    throw new StartupError(
      `${damaged} in the backup is damaged: restore an earlier backup, or another copy of this one`,
    );
  onProgress("rows", 0, 1);
  await restoreRows(settings, { dataFolder, rows: folder.folderOf(manifest.id, "rows"), manifest, goesOn }, opened);
  await rm(join(dataFolder, COPIED), { force: true });
  await rm(join(dataFolder, RESTORING_FILE));
  await syncFolder(dataFolder);
  return manifest;
}

/** From here on no server starts on the folder. Returns whether it was marked before. Throws `StartupError` if it holds something else. */
async function mark(dataFolder: string, { id }: BackupManifest): Promise<boolean> {
  const path = join(dataFolder, RESTORING_FILE);
  if (existsSync(path)) {
    const { id: begun } = JSON.parse(await readFile(path, "utf8")) as { id: string };
    if (begun === id) return true;
    throw new StartupError(`a restore of another backup into ${dataFolder} was interrupted: remove the folder first`);
  }
  if ((await readdir(dataFolder)).some((name) => !NOTHING.test(name)))
    throw new StartupError(`the data folder ${dataFolder} is not empty: set WEIR_DATA_DIR to a new folder`);
  const file = await open(`${path}.new`, "w", 0o600);
  await file.writeFile(JSON.stringify({ id }));
  await file.sync();
  await file.close();
  await rename(`${path}.new`, path);
  await syncFolder(dataFolder);
  return false;
}

interface RowsToRestore {
  readonly dataFolder: string;
  /** Folder of the rows' files. */
  readonly rows: string;
  readonly manifest: BackupManifest;
  /** Whether an earlier run may have restored them. */
  readonly goesOn: boolean;
}

async function restoreRows(
  settings: RestoreSettings,
  { dataFolder, rows, manifest, goesOn }: RowsToRestore,
  opened: AsyncDisposableStack,
): Promise<void> {
  const connection = await connectionTo(settings, dataFolder, false, opened);
  const client = await connectClient(connection, opened);
  const note = `restored from the backup ${manifest.id}`;
  const held = await holds(client);
  if (goesOn && held === note) return;
  if (held !== null)
    throw new StartupError("the database already holds the data of a Weir: set DATABASE_URL to an empty one");
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ ...connection, max: 1 }) }) });
  await migrateTo(db, MIGRATIONS, manifest.migrations, settings.log).finally(() => db.destroy());
  await client.query("begin");
  await loadRows(client, rows, manifest.rows);
  // In the same transaction, so that a run after a kill knows that it is done.
  await client.query(`comment on table migration is '${note}'`);
  await client.query("commit");
}

/** What the database says of its rows; empty if it has rows and says nothing, null without rows. */
async function holds(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ note: string | null; has: boolean }>(
    "select to_regclass('account') is not null as has, obj_description(to_regclass('migration'), 'pg_class') as note",
  );
  if (rows[0]?.has !== true) return null;
  const { rowCount } = await client.query("select from account limit 1");
  return rowCount === 0 ? null : (rows[0].note ?? "");
}
