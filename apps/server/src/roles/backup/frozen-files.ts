import { createReadStream, type Dirent } from "node:fs";
import { copyFile, link, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { PROCESSES } from "../../platform/data-folder.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { Hashing, type IndexedObject } from "./object-index.ts";

/** A file of the data folder, by its path in it. */
export interface NodeFile extends IndexedObject {
  readonly path: string;
}

/**
 * What a node keeps outside the database and the object store: parts of running recordings, incomplete uploads, archives of the client, scripts
 * of the player, and its name. Files being made of others (`clips`, `sources`) are made again.
 */
const KEPT = ["spool", "uploads", "packages", "node-name"];
/** In the data folder, as names of a file are on one disk. */
export const LINKS = "backup-links";
/** Read first in its folder: it tells of no more bytes than the other files then have. */
const JOURNAL = /\.jsonl$/;

/**
 * The node's files at one moment, while a server goes on. They only grow, or go: so a second name keeps a file, and its size says how much of it
 * counts. A file that a server deletes between two looks is kept by the first of them.
 */
export class FrozenFiles {
  readonly #dataFolder: string;
  readonly #links: string;
  readonly #sizes = new Map<string, number>();

  constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
    this.#links = join(dataFolder, LINKS);
  }

  /** Of one command at a time. What a killed run has left is removed now, and at the end. Throws `StartupError`. */
  static async open(dataFolder: string, opened: AsyncDisposableStack): Promise<FrozenFiles> {
    const lock = await takeLock(join(dataFolder, "backup.lock"));
    if (lock === null) throw new StartupError(`another backup of ${dataFolder} runs: wait until it has ended`);
    opened.defer(() => lock.release());
    const frozen = opened.adopt(new FrozenFiles(dataFolder), (one) => one.release());
    await frozen.release();
    return frozen;
  }

  /** Give every file that is there now a second name. */
  async look(): Promise<void> {
    for (const folder of [this.#dataFolder, ...(await processFolders(this.#dataFolder))])
      for (const name of KEPT) await this.#linkAll(join(folder, name));
  }

  /** From here on, only the bytes that are there now count. */
  async freeze(): Promise<void> {
    for (const path of await filesBelow(this.#links)) this.#sizes.set(path, (await stat(join(this.#links, path))).size);
  }

  /** Copy the frozen bytes below `folder`. */
  async copyTo(folder: string): Promise<NodeFile[]> {
    const copied: NodeFile[] = [];
    for (const [path, size] of this.#sizes) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      const hashing = new Hashing();
      await using file = await open(target, "w", 0o600);
      const bytes = size === 0 ? [] : createReadStream(join(this.#links, path), { end: size - 1 });
      for await (const chunk of hashing.through(bytes as AsyncIterable<Uint8Array>)) await file.write(chunk);
      await file.sync();
      copied.push({ path, ...hashing.result });
    }
    return copied;
  }

  /** Also what a killed run has left. */
  async release(): Promise<void> {
    this.#sizes.clear();
    await rm(this.#links, { recursive: true, force: true });
  }

  async #linkAll(path: string): Promise<void> {
    const entries = await entriesOf(path);
    const target = join(this.#links, relative(this.#dataFolder, path));
    if (entries === null) {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      return void (await linkOnce(path, target));
    }
    for (const entry of entries) if (entry.isFile() || entry.isDirectory()) await this.#linkAll(join(path, entry.name));
  }
}

/** Of the media processes behind the first, which keep the same files as a single one. */
async function processFolders(dataFolder: string): Promise<string[]> {
  const folder = join(dataFolder, PROCESSES);
  return ((await entriesOf(folder)) ?? []).filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Null for what is not a folder. */
async function entriesOf(path: string): Promise<Dirent[] | null> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

const isGone = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");

async function linkOnce(path: string, target: string): Promise<void> {
  try {
    await link(path, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" || isGone(error)) return;
    // A file system without second names: the copy is as long as the file is now.
    if (code === "EPERM" || code === "ENOTSUP" || code === "EMLINK") return copyFile(path, target).catch(ignoreGone);
    throw error;
  }
}

function ignoreGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** Paths of files, relative to the folder, journals before the files that they tell of. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])).filter((entry) =>
    entry.isFile(),
  );
  const paths = entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return paths.sort((a, b) => Number(JOURNAL.test(b)) - Number(JOURNAL.test(a)) || (a < b ? -1 : 1));
}

/** Copy a node's files back, checked. Returns the first that is not what it should be, or null. */
export async function restoreFiles(
  from: string,
  dataFolder: string,
  files: readonly NodeFile[],
): Promise<string | null> {
  for (const { path, sha256 } of files) {
    const target = join(dataFolder, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const hashing = new Hashing();
    await using file = await open(target, "w", 0o600);
    await pipeline(
      createReadStream(join(from, path)),
      (chunks: AsyncIterable<Uint8Array>) => hashing.through(chunks),
      async (chunks) => {
        for await (const chunk of chunks) await file.write(chunk);
      },
    );
    await file.sync();
    if (hashing.result.sha256 !== sha256) return path;
  }
  return null;
}
