import { StartupError } from "../../platform/startup-error.ts";
import { openObjectStore } from "../../platform/storage/open-object-store.ts";
import { BackupFolder, type BackupManifest } from "./backup-folder.ts";
import { copyObjects } from "./copy-objects.ts";
import { restoreFiles } from "./frozen-files.ts";
import { NewFolder } from "./new-folder.ts";
import { restoreRows } from "./restore-rows.ts";
import { connectionTo, type WeirDataSettings } from "./weir-data.ts";

export interface RestoreSettings extends WeirDataSettings {
  /** Folder of the backup. */
  readonly from: string;
  readonly onProgress: (what: string, done: number, of: number) => void;
}

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
  const target = await NewFolder.open(config.dataDir, `the restore of the backup ${manifest.id}`, opened);
  await target.mark();

  const store = await openObjectStore({ dataFolder: target.path, config, clock, log });
  if (manifest.objects !== null) {
    const copied = opened.adopt(target.openIndex(), (one) => one.close());
    let done = 0;
    const onCopied = () => onProgress("objects", ++done, folder.index.size);
    const { objects: from, index: expected } = folder;
    await copyObjects({ from, to: store, keys: expected.keys(), copied, expected, onCopied });
    copied.close();
  }
  const damaged = await restoreFiles(folder.folderOf(manifest.id, "files"), target.path, manifest.files);
  if (damaged !== null)
    throw new StartupError(
      `${damaged} in the backup is damaged: restore an earlier backup, or another copy of this one`,
    );
  onProgress("rows", 0, 1);
  const connection = await connectionTo(settings, target.path, false, opened);
  const { migrations, rows } = manifest;
  const { goesOn } = target;
  const database = { connection, migrations, task: `restored from the backup ${manifest.id}`, goesOn, log };
  await restoreRows(database, folder.folderOf(manifest.id, "rows"), rows, "");
  await target.complete();
  return manifest;
}
