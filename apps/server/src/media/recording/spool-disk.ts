import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { Turns } from "../../platform/limits/turns.ts";
import { AppendFile, type WritableFile } from "../../platform/storage/append-file.ts";
import { syncFolder as syncNames } from "../../platform/storage/sync-folder.ts";

/** Space that recordings leave to the database, whose last bytes they would take, and to a restart. */
export const RESERVED_BYTES = 128 * 1024 * 1024;
/** A recording stopped by the reserve resumes above this, not at the first free byte. */
export const RESUME_BYTES = 192 * 1024 * 1024;
/** Concurrent syncs of all recordings. Node has four threads for files, and viewers read through them. */
const MAX_SYNCS = 2;

export interface SpoolDiskSettings {
  /** Must survive the process; needs no backup. */
  readonly folder: string;
  readonly freeBytes: () => number;
  readonly openFile?: (path: string) => Promise<WritableFile>;
  readonly syncFolder?: (path: string) => Promise<void>;
}

/** The disk with the spool of all recordings on this node. */
export class SpoolDisk {
  readonly folder: string;
  readonly freeBytes: () => number;
  readonly #openFile: (path: string) => Promise<WritableFile>;
  readonly #syncFolder: (path: string) => Promise<void>;
  readonly #syncs: Turns;

  constructor(
    { folder, freeBytes, openFile = openNew, syncFolder = syncNames }: SpoolDiskSettings,
    syncs = new Turns({ atATime: MAX_SYNCS }),
  ) {
    this.#syncs = syncs;
    this.folder = folder;
    this.freeBytes = freeBytes;
    this.#openFile = openFile;
    this.#syncFolder = syncFolder;
  }

  /** A folder of this one, on the same disk. */
  within(name: string): SpoolDisk {
    const settings = { freeBytes: this.freeBytes, openFile: this.#openFile, syncFolder: this.#syncFolder };
    return new SpoolDisk({ folder: join(this.folder, name), ...settings }, this.#syncs);
  }

  async makeFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 });
  }

  async create(path: string): Promise<AppendFile> {
    return new AppendFile(await this.#openFile(path));
  }

  /** Sync one file, in its turn. */
  sync(file: AppendFile): Promise<void> {
    return this.#syncs.run(() => file.sync());
  }

  /** Sync the names in a folder. */
  syncFolder(path: string): Promise<void> {
    return this.#syncs.run(() => this.#syncFolder(path));
  }
}

function openNew(path: string): Promise<WritableFile> {
  return open(path, "w", 0o600);
}
