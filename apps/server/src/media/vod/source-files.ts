import { createWriteStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { NoRoom } from "../../platform/storage/disk-failed.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";

/** Disk space that is kept free for everything else. */
const RESERVED_BYTES = 512 * 1024 * 1024;

/** A local file with the content of a stored object, until disposed of. */
export interface LocalSource extends AsyncDisposable {
  readonly path: string;
}

/** Provides customers' files locally, since decoders need random access. */
export class SourceFiles {
  readonly #store: ObjectStore;
  readonly #folder: string;
  readonly #freeBytes: () => number;

  /** `folder`: for local copies of files from remote stores. */
  constructor(store: ObjectStore, folder: string, freeBytes: () => number) {
    this.#store = store;
    this.#folder = folder;
    this.#freeBytes = freeBytes;
  }

  /** Removes files of an earlier run. */
  async open(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Throws `ObjectNotFound`. */
  async take(key: string, name: string, bytes: number, signal: AbortSignal): Promise<LocalSource> {
    const own = await this.#store.pathOf?.(key);
    if (own) return { path: own, [Symbol.asyncDispose]: async () => {} };
    if (this.#freeBytes() < bytes + RESERVED_BYTES)
      throw new NoRoom(
        `not enough disk space for a local copy of ${bytes} bytes: free some space, or give this node a larger disk`,
      );
    const path = join(this.#folder, name);
    const remove = (): Promise<void> => rm(path, { force: true });
    try {
      await pipeline(await this.#store.read(key), createWriteStream(path, { mode: 0o600 }), { signal });
      const { size } = await stat(path);
      if (bytes > 0 && size !== bytes)
        throw new StoreFailed("read", key, { error: new Error(`${size} of ${bytes} bytes`) });
    } catch (error) {
      await remove();
      throw error;
    }
    return { path, [Symbol.asyncDispose]: remove };
  }
}
