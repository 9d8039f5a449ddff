import { existsSync, lstatSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FolderLock, takeLock } from "./folder-lock.ts";

/** Between the making of a folder and its lock there is less. */
const YOUNG_MS = 60_000;
const LOCK = "run.lock";
/** Held by a server that was started on the folder, and outlives its command by some seconds. */
const LOCK_OF_SERVER = "data/weir.lock";

/** A folder for one run of a command, to be removed at its end. */
export interface RunFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes a folder `{parent}/{prefix}…`, and removes those that killed runs of this user left there. */
export async function makeRunFolder(parent: string, prefix: string, now: number): Promise<RunFolder> {
  for (const name of await readdir(parent)) if (name.startsWith(prefix)) await removeAbandoned(join(parent, name), now);
  const path = await mkdtemp(join(parent, prefix));
  const lock = await takeLock(join(path, LOCK));
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 5 });
    await lock?.release();
  };
  return { path, remove };
}

async function removeAbandoned(path: string, now: number): Promise<void> {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // The system's temporary folder is everyone's.
  if (!stat?.isDirectory() || stat.uid !== process.getuid?.() || now - stat.ctimeMs < YOUNG_MS) return;
  const locks: (FolderLock | null)[] = [];
  for (const name of [LOCK, LOCK_OF_SERVER])
    if (existsSync(join(path, name))) locks.push(await takeLock(join(path, name)).catch(() => null));
  if (!locks.includes(null)) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  for (const lock of locks) await lock?.release();
}
