import { randomUUID } from "node:crypto";
import { BackupFolder, type BackupManifest } from "./backup-folder.ts";
import { copyObjects } from "./copy-objects.ts";
import { FrozenFiles } from "./frozen-files.ts";
import { dumpRows } from "./rows.ts";
import { migrationsOf, openWeirData, type WeirData, type WeirDataSettings } from "./weir-data.ts";

export interface BackupSettings extends WeirDataSettings {
  /** Folder of the backup; that of an earlier one is brought up to date. */
  readonly to: string;
  /** Objects stay in their bucket alone, for a bucket that keeps versions. */
  readonly isWithoutObjects: boolean;
  readonly weir: string;
  readonly onProgress: (what: string, done: number) => void;
}

/**
 * Back up a server, running or not. Objects that the rows name were stored before the rows, so objects are copied, then the rows are read at one
 * moment, with the node's files of the same moment, and then the objects that have come meanwhile. Killed at any point, the next run goes on.
 */
export async function backUp(settings: BackupSettings): Promise<BackupManifest> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await BackupFolder.open(settings.to, { isNew: true }), (one) => one.close());
  const data = opened.use(await openWeirData(settings));
  const frozen = await FrozenFiles.open(data.dataFolder, opened);
  await folder.removeOthers();

  await copyAll(settings, data, folder);
  const id = randomUUID();
  const taken = await takeRows(settings, data, folder, frozen, id);
  await copyAll(settings, data, folder);
  const objects = settings.isWithoutObjects ? null : folder.index.sumOfFound();
  const manifest: BackupManifest = { format: 1, id, weir: settings.weir, ...taken, objects };
  await folder.complete(manifest);
  if (objects !== null) await folder.deleteUnfoundObjects();
  return manifest;
}

async function copyAll(settings: BackupSettings, { store }: WeirData, folder: BackupFolder): Promise<void> {
  if (settings.isWithoutObjects) return;
  let count = 0;
  const onCopied = () => settings.onProgress("objects", ++count);
  await copyObjects({ from: store, to: folder.objects, keys: store.keys(), copied: folder.index, onCopied });
}

async function takeRows(
  { clock, onProgress }: BackupSettings,
  { client }: WeirData,
  folder: BackupFolder,
  frozen: FrozenFiles,
  id: string,
): Promise<Pick<BackupManifest, "takenAt" | "migrations" | "rows" | "files">> {
  // A part of a recording that the rows name is in the spool now, or is stored before the second look at the objects.
  await frozen.look();
  await client.query("begin isolation level repeatable read read only");
  const migrations = await migrationsOf(client);
  const takenAt = clock.now();
  await frozen.look();
  await frozen.freeze();
  onProgress("rows", 0);
  const rows = await dumpRows(client, folder.folderOf(id, "rows"));
  await client.query("commit");
  onProgress("files", 0);
  const files = await frozen.copyTo(folder.folderOf(id, "files"));
  return { takenAt, migrations, rows, files };
}
