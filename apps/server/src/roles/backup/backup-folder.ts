import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FolderLock, takeLock } from "../../platform/folder-lock.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { LocalObjectStore } from "../../platform/storage/local-object-store.ts";
import { syncFolder } from "../../platform/storage/sync-folder.ts";
import { deleteUnfound } from "./copy-objects.ts";
import type { NodeFile } from "./frozen-files.ts";
import { ObjectIndex } from "./object-index.ts";
import type { RowsManifest } from "./rows.ts";

/** What a complete backup holds. */
export interface BackupManifest {
  readonly format: 1;
  /** Name of its folder below `taken/`. */
  readonly id: string;
  /** The moment of its rows, in milliseconds since the Unix epoch. */
  readonly takenAt: number;
  readonly weir: string;
  /** The schema, as the names and hashes of its migrations. */
  readonly migrations: readonly { readonly name: string; readonly digest: string }[];
  readonly rows: RowsManifest;
  readonly files: readonly NodeFile[];
  /** Null where they were left in their bucket. */
  readonly objects: { readonly count: number; readonly bytes: number } | null;
}

const FORMAT = 1;

/**
 * A folder with the newest complete backup, and what a next one has copied so far. Objects never change, so that all backups share them; rows
 * and a node's files are of one backup, in `taken/{id}`. The manifest is replaced last, so that a kill leaves the backup before.
 */
export class BackupFolder {
  readonly path: string;
  readonly objects: LocalObjectStore;
  readonly index: ObjectIndex;
  readonly #lock: FolderLock;

  private constructor(path: string, lock: FolderLock) {
    this.path = path;
    this.#lock = lock;
    this.objects = new LocalObjectStore(join(path, "objects"));
    this.index = new ObjectIndex(join(path, "objects.sqlite"));
  }

  /** Of one process at a time. Throws `StartupError` for a folder of something else. */
  static async open(path: string, { isNew = false } = {}): Promise<BackupFolder> {
    const names = existsSync(path) ? await readdir(path) : [];
    const isOurs = names.some((name) => name === "backup.lock" || name === "backup.json");
    if (isNew && names.length > 0 && !isOurs)
      throw new StartupError(`${path} holds other things than a backup: give a folder of its own`);
    if (!isNew && !names.includes("backup.json"))
      throw new StartupError(
        `${path} holds no complete backup: give the folder that weir backup wrote to${isOurs ? ", and repeat that command first" : ""}`,
      );
    await mkdir(path, { recursive: true, mode: 0o700 });
    const lock = await takeLock(join(path, "backup.lock"));
    if (lock === null)
      throw new StartupError(`another command works on the backup in ${path}: wait until it has ended`);
    const folder = new BackupFolder(path, lock);
    try {
      await folder.objects.open();
      folder.index.open();
      return folder;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  folderOf(id: string, part: "rows" | "files"): string {
    return join(this.path, "taken", id, part);
  }

  /** Null before the first one is complete. */
  async manifest(): Promise<BackupManifest | null> {
    const path = join(this.path, "backup.json");
    if (!existsSync(path)) return null;
    const manifest = JSON.parse(await readFile(path, "utf8")) as BackupManifest;
    if (manifest.format !== FORMAT)
      throw new StartupError(`the backup in ${this.path} was made by a newer Weir: restore it with that version`);
    if (isOurs(manifest)) return manifest;
    throw new StartupError(`backup.json in ${this.path} is not as Weir wrote it: restore another copy of the backup`);
  }

  /** Throws `StartupError` if the index lists fewer objects than the backup has. A run after it may have added some. */
  checkIndex({ objects }: BackupManifest): void {
    if (this.index.size < (objects?.count ?? 0))
      throw new StartupError(
        `the index of objects in ${this.path} lists ${this.index.size} of ${objects?.count}: use another copy of the backup, or repeat weir backup`,
      );
  }

  /** The backup is complete from here on, and takes the place of the one before. */
  async complete(manifest: BackupManifest): Promise<void> {
    const path = join(this.path, "backup.json");
    const file = await open(`${path}.unfinished`, "w", 0o600);
    await file.writeFile(`${JSON.stringify(manifest)}\n`);
    await file.sync();
    await file.close();
    await rename(`${path}.unfinished`, path);
    await syncFolder(this.path);
    await this.removeOthers();
  }

  /** Delete rows and files of other backups than the newest complete one. */
  async removeOthers(): Promise<void> {
    const kept = (await this.manifest())?.id;
    const taken = join(this.path, "taken");
    for (const id of existsSync(taken) ? await readdir(taken) : [])
      if (id !== kept) await rm(join(taken, id), { recursive: true, force: true });
  }

  /** Delete objects that the last look did not find. */
  deleteUnfoundObjects(): Promise<void> {
    return deleteUnfound(this.index, this.objects);
  }

  async close(): Promise<void> {
    this.index.close();
    await this.#lock.release();
  }
}

const ID = /^[0-9a-f-]{36}$/;
const BOUND = /^(DEFAULT|FOR VALUES FROM \('?-?\d+'?\) TO \('?-?\d+'?\))$/;

/** These become parts of paths and of statements. The rest is data. */
function isOurs({ id, rows, files }: BackupManifest): boolean {
  const isInside = ({ path }: NodeFile) => !path.startsWith("/") && !path.split("/").includes("..");
  return ID.test(id) && rows.partitions.every(({ bound }) => BOUND.test(bound)) && files.every(isInside);
}
