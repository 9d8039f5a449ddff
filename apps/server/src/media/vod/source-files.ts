import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../../platform/storage/object-store.ts";

/** The room that is left to everything else on the disk. */
const RESERVED_BYTES = 512 * 1024 * 1024;

export interface SourceFilesSettings {
  readonly store: ObjectStore;
  /** For files of stores that are not on this machine. */
  readonly folder: string;
  readonly freeBytes: () => number;
}

/** A file of the object store with a path on this machine, until it is disposed of. */
export interface LocalSource extends AsyncDisposable {
  readonly path: string;
}

/** Brings customers' files to where a decoder can read them back and forth. */
export class SourceFiles {
  readonly #settings: SourceFilesSettings;

  constructor(settings: SourceFilesSettings) {
    this.#settings = settings;
  }

  /** Drop what an earlier run left. */
  async open(): Promise<void> {
    const { folder } = this.#settings;
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  /** Throws `ObjectNotFound`. */
  async take(key: string, name: string, bytes: number, signal: AbortSignal): Promise<LocalSource> {
    const { store, folder, freeBytes } = this.#settings;
    const own = await store.pathOf?.(key);
    if (own) return { path: own, [Symbol.asyncDispose]: async () => {} };
    if (freeBytes() < bytes + RESERVED_BYTES)
      throw new Error(`no room on the disk for a copy of ${bytes} bytes: free some, or give this node a larger one`);
    const path = join(folder, name);
    const remove = (): Promise<void> => rm(path, { force: true });
    try {
      await pipeline(await store.read(key), createWriteStream(path, { mode: 0o600 }), { signal });
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, [Symbol.asyncDispose]: remove };
  }
}
