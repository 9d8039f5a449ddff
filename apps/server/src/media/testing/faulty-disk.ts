import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { WritableFile } from "../../platform/storage/append-file.ts";

type Operation = "open" | "writev" | "datasync";

/** Opens real files whose faults a test decides, and forgets at a power cut what was not synced. */
export class FaultyDisk {
  /** Error codes that the next operations of a kind end with. */
  readonly faults: Partial<Record<Operation, string[]>> = {};
  /** Most bytes that one write takes. */
  maxWrite = Number.POSITIVE_INFINITY;
  syncs = 0;
  #stalled: PromiseWithResolvers<void> | null = null;
  /** Counts power cuts: syncs that were asked for before one do nothing after it. */
  #life = 0;
  readonly #syncedBytes = new Map<string, number>();
  readonly #writtenBytes = new Map<string, number>();
  readonly #syncedNames = new Set<string>();

  /** Whether everything that was written is synced, names included. */
  get isSynced(): boolean {
    const files = [...this.#writtenBytes].filter(([path]) => existsSync(path));
    return files.every(([path, bytes]) => this.#syncedBytes.get(path) === bytes && this.#syncedNames.has(path));
  }

  /** Let syncs wait. */
  stallSyncs(): void {
    this.#stalled = Promise.withResolvers();
  }

  releaseSyncs(): void {
    this.#stalled?.resolve();
    this.#stalled = null;
  }

  readonly openFile = async (path: string): Promise<WritableFile> => {
    this.#fail("open");
    const file = await open(path, "w");
    this.#syncedBytes.set(path, 0);
    return {
      writev: (async (chunks: readonly Uint8Array[], position: number) => {
        this.#fail("writev");
        const bytes = Buffer.concat(chunks).subarray(0, this.maxWrite);
        const { bytesWritten } = await file.write(bytes, 0, bytes.length, position);
        this.#writtenBytes.set(path, position + bytesWritten);
        return { bytesWritten, buffers: chunks };
      }) as FileHandle["writev"],
      truncate: (bytes) => file.truncate(bytes),
      datasync: async () => {
        const life = this.#life;
        const { size } = await file.stat();
        await this.#stalled?.promise;
        if (life !== this.#life) return;
        this.#fail("datasync");
        this.syncs++;
        this.#syncedBytes.set(path, size);
      },
      close: () => file.close(),
    };
  };

  readonly syncFolder = async (path: string): Promise<void> => {
    const life = this.#life;
    const names = await readdir(path);
    await this.#stalled?.promise;
    if (life !== this.#life) return;
    for (const name of names) this.#syncedNames.add(join(path, name));
  };

  /** Leave in the folder only what was synced. Folders within a folder of synced name count as synced with their own names. */
  async cutPower(folder: string): Promise<void> {
    this.#life++;
    await this.#dropUnsynced(folder);
    this.releaseSyncs();
  }

  async #dropUnsynced(folder: string): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (!this.#syncedNames.has(path)) await rm(path, { recursive: true });
      else if (entry.isDirectory()) await this.#dropUnsynced(path);
      else await truncate(path, this.#syncedBytes.get(path) ?? 0);
    }
  }

  #fail(operation: Operation): void {
    const code = this.faults[operation]?.shift();
    if (code) throw Object.assign(new Error(`${code}: in a test`), { code });
  }
}
