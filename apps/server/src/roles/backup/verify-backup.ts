import { createReadStream } from "node:fs";
import { join } from "node:path";
import { StartupError } from "../../platform/startup-error.ts";
import { BackupFolder, type BackupManifest } from "./backup-folder.ts";
import { Hashing } from "./object-index.ts";
import { verifyRows } from "./rows.ts";

/** Read the whole newest backup, and compare every byte's hash. Throws `StartupError` for what is damaged. */
export async function verifyBackup(
  path: string,
  onProgress: (done: number, of: number) => void,
): Promise<BackupManifest> {
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await BackupFolder.open(path), (one) => one.close());
  const manifest = await folder.manifest();
  if (manifest === null) throw new StartupError(`${path} holds no complete backup: repeat weir backup`);
  folder.checkIndex(manifest);
  await verifyRows(folder.folderOf(manifest.id, "rows"), manifest.rows);
  for (const file of manifest.files)
    if ((await hashOf(createReadStream(join(folder.folderOf(manifest.id, "files"), file.path)))) !== file.sha256)
      throw new StartupError(`${file.path} in the backup is damaged: take another backup`);
  let done = 0;
  for (const key of manifest.objects === null ? [] : folder.index.keys()) {
    if ((await hashOf(await folder.objects.read(key))) !== folder.index.get(key)?.sha256)
      throw new StartupError(`the object ${key} of the backup is damaged: delete it there, and repeat weir backup`);
    onProgress(++done, folder.index.size);
  }
  return manifest;
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hashing = new Hashing();
  for await (const _ of hashing.through(chunks));
  return hashing.result.sha256;
}
