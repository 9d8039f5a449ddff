import { createHash } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statfsSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartupError } from "./startup-error.ts";

/** `sun_path` holds 103 bytes on macOS and 107 on Linux. The longest socket name is that of `.s.PGSQL.5432.lock`. */
const MAX_SOCKET_PATH = 100;
const MAX_SOCKET_NAME = 20;
/** A new database takes 40 MB, and its log grows before space is reused. */
const MIN_BYTES_TO_BEGIN = 256 * 1024 * 1024;
/** Space for the recovery of an existing database. */
const MIN_BYTES_TO_GO_ON = 32 * 1024 * 1024;
/** Left by the probe of a killed process. */
export const PROBE_FILE = "confinement-probe";
/** The marker of a folder whose restore was begun and is not complete: its rows or objects are not all there. */
export const RESTORING_FILE = "restoring.json";
/** The folder of the media processes behind the first, each in a folder with its number. */
export const PROCESSES = "processes";
/** The entries of a data folder, and the entries at the root of a file system. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  "run",
  "pg",
  "objects",
  "spool",
  "dvr",
  "clips",
  "sources",
  "uploads",
  "packages",
  PROCESSES,
  "node-name",
  PROBE_FILE,
  "weir.lock",
  "postgres.lock",
  "backup.lock",
  "backup-links",
  RESTORING_FILE,
  "lost+found",
]);

/** Beside a lock, while it is held. */
const OWN_JOURNAL = /^(weir|postgres|backup)\.lock-(journal|wal|shm)$/;

/** Create the folder if it does not exist. Throws `StartupError` if it cannot be created or written to, or has no space. */
export function openDataFolder(folder: string, freeBytes: (folder: string) => number = freeBytesOf): string {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC") throw noSpace(folder, 0, MIN_BYTES_TO_BEGIN);
    if (code === "EEXIST" || code === "ENOTDIR")
      throw new StartupError(`the data folder ${folder} is a file, or lies below one: set WEIR_DATA_DIR to a folder`);
    if (code === "EROFS")
      throw new StartupError(
        `the data folder ${folder} is on a read-only file system: mount it for writing or set WEIR_DATA_DIR to another folder`,
      );
    throw new StartupError(
      `cannot write to the data folder ${folder}${ownerOf(folder)} as ${whoami()} (${code}): change its owner or set WEIR_DATA_DIR`,
    );
  }
  const path = realpathSync(folder);
  const free = freeBytes(path);
  const isUsed = readdirSync(path).some((name) => name === "pg" || name === "spool");
  const needed = isUsed ? MIN_BYTES_TO_GO_ON : MIN_BYTES_TO_BEGIN;
  if (free < needed) throw noSpace(path, free, needed);
  closeToOthers(path);
  return path;
}

/**
 * A folder prepared for a service or a container is mostly open to read, and is narrowed. A folder that holds other things stays as it is, and
 * so does one that others may only traverse: the embedded database may run as another user.
 */
function closeToOthers(folder: string): void {
  const { uid, mode } = statSync(folder);
  const isReadable = (mode & 0o066) !== 0;
  if (isReadable && uid === process.getuid?.() && readdirSync(folder).every((name) => OWN_NAMES.has(name)))
    chmodSync(folder, 0o700);
}

/** Names in a data folder that are not Weir's. */
export function strangersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => !OWN_NAMES.has(name) && !OWN_JOURNAL.test(name));
}

/** Bytes that this process may still write to the file system of `folder`. */
export function freeBytesOf(folder: string): number {
  return diskOf(folder).freeBytes;
}

/** The size of the file system of `folder`, and the bytes that this process may still write to it. */
export function diskOf(folder: string): { freeBytes: number; totalBytes: number } {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The folder for sockets: `{data}/run`, or a folder with a short name in the system's temporary folder if that path is too long. */
export function openRunFolder(dataFolder: string): string {
  const folder = runFolderOf(dataFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stat = lstatSync(folder);
  // Others may write to the temporary folder: files under our name may be theirs.
  if (!stat.isDirectory() || !isOurs(stat.uid)) {
    throw new StartupError(`${folder} belongs to another user: remove it, or set WEIR_DATA_DIR to a shorter path`);
  }
  chmodSync(folder, 0o700);
  return folder;
}

function runFolderOf(dataFolder: string): string {
  const inside = join(dataFolder, "run");
  if (Buffer.byteLength(inside) + 1 + MAX_SOCKET_NAME <= MAX_SOCKET_PATH) return inside;
  const digest = createHash("sha256").update(dataFolder).digest("hex").slice(0, 12);
  return join(tmpdir(), `weir-${digest}`);
}

/** The data folder, and the folder of its sockets if that lies outside. */
export function privateFolders(dataFolder: string): string[] {
  const runFolder = openRunFolder(dataFolder);
  return runFolder.startsWith(dataFolder) ? [dataFolder] : [dataFolder, runFolder];
}

function ownerOf(folder: string): string {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  return owner === undefined ? "" : `, which belongs to user ${owner},`;
}

/** The user of this process, in words. */
export function whoami(): string {
  const uid = process.getuid?.();
  return uid === 0 ? "root" : `user ${uid}`;
}

function isOurs(uid: number): boolean {
  const own = process.getuid?.();
  return own === 0 || uid === own;
}

function noSpace(folder: string, free: number, needed: number): StartupError {
  const megabytes = (bytes: number) => `${Math.floor(bytes / 1024 / 1024)} MB`;
  return new StartupError(
    `no space for the data folder ${folder}: ${megabytes(free)} free, ${megabytes(needed)} needed; make room or set WEIR_DATA_DIR`,
  );
}

/** As the dashboard warns. What may be left out is not stored any more. */
const ALMOST_FULL_SHARE = 0.1;

export const isAlmostFull = ({ freeBytes, totalBytes }: ReturnType<typeof diskOf>): boolean =>
  freeBytes < totalBytes * ALMOST_FULL_SHARE;
