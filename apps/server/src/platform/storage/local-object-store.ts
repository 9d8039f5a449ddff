import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { constants, copyFile, link, lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Readable } from "node:stream";
import { LRUCache } from "lru-cache";
import { freeBytesOf } from "../data-folder.ts";
import { fillFromFile, isAbsent } from "./fill.ts";
import { isKey, segmentsOfKey, segmentsOfPrefix } from "./object-key.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "./object-store.ts";
import { syncFolder } from "./sync-folder.ts";

/** All keys begin with it. */
const ROOT_OF_KEYS = "v1";
/** Each reader holds twice this much, however slow it is. */
const READ_AHEAD = 64 * 1024;
/** Nobody but a stranger makes links here, so what was a folder a moment ago is one. Hundreds of viewers read from the same folders. */
const KNOWN_FOLDERS = { max: 1_000, ttl: 1_000 };
/** Another file system, one without hard links, or a file with too many of them. */
const CANNOT_LINK = new Set(["EXDEV", "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/**
 * Objects as files below one folder. A put writes a temporary file, syncs it, renames it and syncs the folder. Symbolic links, which only a
 * stranger can have created, are not followed.
 */
export class LocalObjectStore implements ObjectStore {
  readonly #root: string;
  readonly #unfinished: string;
  readonly #folders = new LRUCache<string, true>(KNOWN_FOLDERS);

  /** `unfinished`: the folder of this process's puts, where others use the same store. */
  constructor(root: string, unfinished = "unfinished") {
    this.#root = root;
    this.#unfinished = join(root, unfinished);
  }

  /** Create the folder, and delete unfinished puts of an earlier run. */
  async open(): Promise<void> {
    await rm(this.#unfinished, { recursive: true, force: true });
    await mkdir(this.#unfinished, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(this.#root));
  }

  async put(key: string, bytes: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    await this.#place(key, async (path) => {
      await using file = await open(path, "wx", 0o600);
      await file.writeFile(bytes);
      await file.sync();
    });
  }

  async putFile(key: string, source: string): Promise<void> {
    await this.#place(key, async (path) => {
      await linkOrCopy(source, path);
      await using file = await open(path, "r");
      await file.sync();
    });
  }

  putStream(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return this.put(key, bytes);
  }

  async read(key: string, range?: ByteRange): Promise<Readable> {
    const path = await this.#find(key);
    if (path === null) throw new ObjectNotFound(key);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return createReadStream(path, { fd: file, ...range, highWaterMark: READ_AHEAD });
  }

  async fill(key: string, views: readonly Uint8Array[], start: number): Promise<number | null> {
    const path = this.#pathOf(key);
    return (await this.#isFolder(dirname(path))) ? fillFromFile(path, views, start) : null;
  }

  async pathOf(key: string): Promise<string> {
    const path = await this.#find(key);
    if (path === null) throw new ObjectNotFound(key);
    return path;
  }

  async size(key: string): Promise<number | null> {
    const path = await this.#find(key);
    return path === null ? null : (await lstat(path)).size;
  }

  async delete(key: string): Promise<void> {
    this.#folders.delete(dirname(this.#pathOf(key)));
    const path = await this.#find(key);
    if (path !== null) await rm(path, { force: true });
  }

  async deletePrefix(prefix: string): Promise<void> {
    const folder = join(this.#root, ...segmentsOfPrefix(prefix));
    this.#folders.clear();
    if (!(await this.#isFolder(folder))) return;
    await rm(folder, { recursive: true, force: true });
    await syncFolder(dirname(folder));
  }

  async children(prefix: string): Promise<string[]> {
    const folder = join(this.#root, ...segmentsOfPrefix(prefix));
    if (!(await this.#isFolder(folder))) return [];
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  async *keys(): AsyncGenerator<string, void> {
    yield* this.#keysBelow(ROOT_OF_KEYS);
  }

  freeBytes(): number {
    return freeBytesOf(this.#root);
  }

  async *#keysBelow(folder: string): AsyncGenerator<string, void> {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch((error) => {
      if (isAbsent(error)) return [];
      throw error;
    });
    for (const entry of entries) {
      const key = `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.#keysBelow(key);
      else if (entry.isFile() && isKey(key)) yield key;
    }
  }

  async #place(key: string, write: (path: string) => Promise<void>): Promise<void> {
    const target = this.#pathOf(key);
    const unfinished = join(this.#unfinished, randomUUID());
    try {
      await write(unfinished);
      await this.#makeFolder(dirname(target));
      await rename(unfinished, target);
      await syncFolder(dirname(target));
    } finally {
      // The file remains after an error, and if the object is already the same file, because a rename then does nothing.
      await rm(unfinished, { force: true });
    }
  }

  /** The file of a key; null if it does not exist or any part of the path is a link. */
  async #find(key: string): Promise<string | null> {
    const path = this.#pathOf(key);
    if (!(await this.#isFolder(dirname(path)))) return null;
    return (await kindOf(path)) === "file" ? path : null;
  }

  /** Whether the folder exists, with no link on the path, now or a moment ago. */
  async #isFolder(folder: string): Promise<boolean> {
    if (this.#folders.has(folder)) return true;
    for (const path of this.#foldersTo(folder)) if ((await kindOf(path)) !== "folder") return false;
    this.#folders.set(folder, true);
    return true;
  }

  async #makeFolder(folder: string): Promise<void> {
    for (const path of this.#foldersTo(folder)) {
      try {
        await mkdir(path, { mode: 0o700 });
        await syncFolder(dirname(path));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a folder of ours: remove it`);
      }
    }
  }

  /** Every folder below the root on the way to `folder`, from the top. */
  #foldersTo(folder: string): string[] {
    const names = relative(this.#root, folder).split("/");
    return names.map((_, index) => join(this.#root, ...names.slice(0, index + 1)));
  }

  #pathOf(key: string): string {
    return join(this.#root, ...segmentsOfKey(key));
  }
}

async function kindOf(path: string): Promise<"file" | "folder" | null> {
  try {
    const stat = await lstat(path);
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : null;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** On one file system the same bytes get a second name, so that a put works on a disk that is almost full. */
async function linkOrCopy(source: string, path: string): Promise<void> {
  try {
    await link(source, path);
  } catch (error) {
    if (!CANNOT_LINK.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await copyFile(source, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  }
}
