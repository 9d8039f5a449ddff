import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../../platform/storage/object-store.ts";

/** Disk space that is kept free for everything else. */
const RESERVED_BYTES = 512 * 1024 * 1024;

export interface SourceFilesSettings {
  readonly store: ObjectStore;
  /** Local copies of files from remote stores. */
  readonly folder: string;
  readonly freeBytes: () => number;
}

/** A local file with the content of a stored object, until disposed of. */
export interface LocalSource extends AsyncDisposable {
  readonly path: string;
}

/** Provides customers' files locally, since decoders need random access. */
export class SourceFiles {
  readonly #settings: SourceFilesSettings;

  constructor(settings: SourceFilesSettings) {
    this.#settings = settings;
  }

  /** Removes files of an earlier run. */
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
      throw new Error(
        `not enough disk space for a local copy of ${bytes} bytes: free some space, or give this node a larger disk`,
      );
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
