import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { strangersIn } from "../../platform/data-folder.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { openObjectStore } from "../../platform/storage/open-object-store.ts";
import { type Config, effectiveSettings } from "../config.ts";
import { copyObjects, deleteUnfound } from "./copy-objects.ts";
import { FrozenFiles } from "./frozen-files.ts";
import { NewFolder } from "./new-folder.ts";
import { makeTables, type NewDatabase, restoreRows } from "./restore-rows.ts";
import { dumpRows, type RowsManifest } from "./rows.ts";
import { connectionTo, migrationsOf, openWeirData, type WeirData, type WeirDataSettings } from "./weir-data.ts";

/** `config` says where to: `DATABASE_URL`, a bucket, and a new data folder. */
export interface MoveSettings extends WeirDataSettings {
  /** The data folder that is moved, with its embedded database and its objects. */
  readonly from: string;
  /** Only objects, so that a server may go on meanwhile. */
  readonly isAhead: boolean;
  readonly onProgress: (what: string, done: number) => void;
}

export interface MoveReport {
  readonly from: string;
  readonly objects: { readonly count: number; readonly bytes: number };
  /** Null where only objects were copied. */
  readonly tables: number | null;
  readonly files: number | null;
  /** Names in the folder that are not Weir's: they were left. */
  readonly left: readonly string[];
  /** Of every node from now on, beside those that it had. The value of a secret is null. */
  readonly settings: readonly { readonly variable: string; readonly value: string | null }[];
}

/** In the new data folder, until they are loaded. */
const ROWS = "moving.rows";

/**
 * Move a data folder to an external database and a bucket. Each object is read back from the bucket and compared. The rows come last, in one
 * transaction. The old folder keeps all it has. Killed at any point, the same call goes on.
 */
export async function move(settings: MoveSettings): Promise<MoveReport> {
  const { config, clock, log, isAhead, onProgress } = settings;
  await using opened = new AsyncDisposableStack();
  const from = oldFolder(settings);
  const source = opened.use(await openSource(settings, from));
  const place = `bucket ${config.s3Bucket}${config.s3Endpoint === null ? "" : ` at ${config.s3Endpoint}`}`;
  const target = await NewFolder.open(config.dataDir, `the move of ${from} to ${place}`, opened);
  const database: NewDatabase = {
    connection: await connectionTo(settings, target.path, false, opened),
    migrations: await migrationsOf(source.client),
    task: `moved by ${target.id}`,
    goesOn: target.goesOn,
    log,
  };
  // What is wrong with the database is said before hours of copying.
  await makeTables(database);
  const store = await openObjectStore({ dataFolder: target.path, config, clock, log });
  if (!target.goesOn && (await holdsObjects(store)))
    throw new StartupError(`${place} already holds objects of a Weir: set WEIR_S3_BUCKET to an empty one`);
  await target.mark();

  const index = opened.adopt(target.openIndex(), (one) => one.close());
  let done = 0;
  const onCopied = () => onProgress("objects", ++done);
  const keys = source.store.keys();
  await copyObjects({ from: source.store, to: store, keys, copied: index, readsBack: true, onCopied });
  const report = { from, objects: index.sumOfFound(), left: strangersIn(from), settings: settingsOf(config) };
  if (isAhead) return { ...report, tables: null, files: null };
  // The server has deleted them since an earlier run.
  await deleteUnfound(index, store);
  index.close();

  onProgress("files", 0);
  const files = await copyFiles(source, target.path);
  onProgress("rows", 0);
  const rows = await moveRows(source, database, join(target.path, ROWS));
  await target.complete();
  return { ...report, tables: rows.tables.length, files };
}

/** Throws `StartupError` if the settings do not say where to, or that is where it comes from. */
function oldFolder({ config, from }: MoveSettings): string {
  const missing = missingIn(config);
  if (missing.length > 0)
    throw new StartupError(`weir move needs to know where to: set ${missing.join(" and ")} to those of the new server`);
  if (!existsSync(join(from, "pg")))
    throw new StartupError(
      `${from} holds no database: give the data folder of a server that has no DATABASE_URL; from elsewhere, use weir backup and weir restore`,
    );
  const [old, path] = [realpathSync(from), resolve(config.dataDir)];
  const target = existsSync(path) ? realpathSync(path) : path;
  const isOutside = (folder: string, other: string) => relative(folder, other).startsWith("..");
  if (isOutside(old, target) && isOutside(target, old)) return old;
  throw new StartupError(
    `the data folder ${target} is where the data is: set WEIR_DATA_DIR to a new folder, for the parts that the server keeps outside the database and the bucket`,
  );
}

function missingIn({ databaseUrl, databaseDirectUrl, s3Bucket }: Config): string[] {
  const hasDatabase = databaseUrl !== null || databaseDirectUrl !== null;
  return [...(hasDatabase ? [] : ["DATABASE_URL"]), ...(s3Bucket === null ? ["WEIR_S3_BUCKET"] : [])];
}

const TARGET = /^(WEIR_DATA_DIR|WEIR_S3_.*|DATABASE_.*)$/;

function settingsOf(config: Config): MoveReport["settings"] {
  return effectiveSettings({ ...config, dataDir: resolve(config.dataDir) })
    .filter(({ variable, value, isDefault }) => TARGET.test(variable) && value !== null && !isDefault)
    .map(({ variable, value }) => ({ variable, value: value === "[secret]" ? null : value }));
}

/** Throws `StartupError` while a server runs that could still write. */
async function openSource(settings: MoveSettings, from: string): Promise<WeirData> {
  const config = {
    ...settings.config,
    dataDir: from,
    databaseUrl: null,
    databaseDirectUrl: null,
    s3Bucket: null,
    s3Endpoint: null,
    s3AccessKeyId: null,
    s3SecretAccessKey: null,
  };
  const canBeUsed = (isServerRunning: boolean) => {
    if (isServerRunning && !settings.isAhead)
      throw new StartupError(
        `a server runs on ${from}: stop it first. To stop it only for a moment, run weir move with --ahead before, which copies recordings and assets meanwhile`,
      );
  };
  return openWeirData({ ...settings, config }, canBeUsed);
}

async function holdsObjects(store: ObjectStore): Promise<boolean> {
  for await (const _ of store.keys()) return true;
  return false;
}

/** Parts of recordings and uploads, and the node's name. Returns their number. */
async function copyFiles({ dataFolder }: WeirData, to: string): Promise<number> {
  await using opened = new AsyncDisposableStack();
  const frozen = await FrozenFiles.open(dataFolder, opened);
  await frozen.look();
  await frozen.freeze();
  return (await frozen.copyTo(to)).length;
}

async function moveRows({ client }: WeirData, database: NewDatabase, folder: string): Promise<RowsManifest> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  await client.query("begin isolation level repeatable read read only");
  const rows = await dumpRows(client, folder);
  await client.query("commit");
  const version = createHash("sha256").update(JSON.stringify(rows)).digest("hex").slice(0, 16);
  await restoreRows(database, folder, rows, version);
  await rm(folder, { recursive: true });
  return rows;
}
