import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../platform/clock.ts";
import { openDataFolder, PROCESSES, RESTORING_FILE } from "../platform/data-folder.ts";
import { type FolderLock, takeLock } from "../platform/folder-lock.ts";
import { sleep } from "../platform/retry.ts";
import { StartupError } from "../platform/startup-error.ts";
import type { Config } from "./config.ts";
import type { ProcessShare } from "./process-share.ts";

const LOCK = "weir.lock";
/** What a process has of its own that others lack: chapters of recordings, and files that are uploaded. */
const SPOOLS = ["spool", "uploads"];
/** What is of no use to another one. */
const REMAINS = ["dvr", "clips", "sources"];
/** A process that has lost its parent ends at once, if the machine is not too busy. */
const PREDECESSOR_ENDS_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 100;

export interface Folders {
  /** Of this process alone: its spool, uploads and name. */
  readonly dataFolder: string;
  /** Of the whole server: the same, unless it has several media processes. */
  readonly serverFolder: string;
}

/** The data folder, which this process alone has from now on. Throws `StartupError`. */
export async function openWholeFolder(
  { dataDir, mediaProcesses }: Pick<Config, "dataDir" | "mediaProcesses">,
  opened: AsyncDisposableStack,
): Promise<Folders> {
  const dataFolder = openDataFolder(dataDir);
  const lock = await takeLock(join(dataFolder, LOCK));
  if (lock === null) throw inUse(dataFolder);
  opened.defer(() => lock.release());
  if (existsSync(join(dataFolder, RESTORING_FILE)))
    throw new StartupError(
      `a restore into ${dataFolder}, or a move, was interrupted: repeat that command, or remove the folder to start empty`,
    );
  adoptSpools(dataFolder, mediaProcesses);
  return { serverFolder: dataFolder, dataFolder };
}

/**
 * The part of the data folder of one of several media processes, whose parent has the whole. The first one works in the folder itself, as a single
 * process does; the others in `processes/{number}`.
 */
export async function openShareOfFolder(
  dataDir: string,
  { number }: ProcessShare,
  clock: Clock,
  opened: AsyncDisposableStack,
): Promise<Folders> {
  const serverFolder = realpathSync(dataDir);
  const own = join(serverFolder, PROCESSES, String(number));
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const lock = await lockWithin(join(own, LOCK), PREDECESSOR_ENDS_WITHIN_MS, clock);
  if (lock === null) throw inUse(own);
  opened.defer(() => lock.release());
  return { serverFolder, dataFolder: number === 1 ? serverFolder : openDataFolder(own) };
}

/** The numbers of the processes that this server had, and has no more. */
export function formerProcesses(serverFolder: string, processes: number): number[] {
  const all = join(serverFolder, PROCESSES);
  return existsSync(all)
    ? readdirSync(all, { encoding: "utf8" })
        .map(Number)
        .filter((number) => number > processes)
    : [];
}

/** The first process goes on with what former ones had in their spools. Called while no process runs. */
function adoptSpools(serverFolder: string, processes: number): void {
  for (const number of formerProcesses(serverFolder, processes)) {
    for (const spool of SPOOLS) {
      const [from, to] = [join(serverFolder, PROCESSES, String(number), spool), join(serverFolder, spool)];
      if (!existsSync(from)) continue;
      mkdirSync(to, { recursive: true, mode: 0o700 });
      // Each has a name that no other process gives.
      for (const name of readdirSync(from))
        if (!existsSync(join(to, name))) renameSync(join(from, name), join(to, name));
    }
    for (const name of REMAINS)
      rmSync(join(serverFolder, PROCESSES, String(number), name), { recursive: true, force: true });
    rmSync(join(serverFolder, "objects", `unfinished-${number}`), { recursive: true, force: true });
  }
}

async function lockWithin(path: string, withinMs: number, clock: Clock): Promise<FolderLock | null> {
  const deadline = clock.monotonic() + withinMs;
  for (;;) {
    const lock = await takeLock(path);
    if (lock || clock.monotonic() >= deadline) return lock;
    await sleep(clock, LOOK_AGAIN_MS);
  }
}

const inUse = (folder: string): StartupError =>
  new StartupError(`another Weir runs on the data folder ${folder}: stop it, or set WEIR_DATA_DIR to another folder`);
