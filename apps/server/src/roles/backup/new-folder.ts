import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { openDataFolder, RESTORING_FILE } from "../../platform/data-folder.ts";
import { takeLock } from "../../platform/folder-lock.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { syncFolder } from "../../platform/storage/sync-folder.ts";
import { ObjectIndex } from "./object-index.ts";

/** What an interrupted run has copied, beside its marker. */
const COPIED = "restoring.objects";
/** Made by the locks and their journals, and by the file system. */
const NOTHING = /^(weir|postgres)\.lock|^lost\+found$/;

/** What the marker holds. */
interface Marker {
  /** What fills the folder, and from where: `the restore of …`. */
  readonly task: string;
  /** Of this run and those that go on with it. */
  readonly id: string;
}

/**
 * A data folder that a restore or a move fills. From `mark` until `complete` no server starts on it, and only the same task may go on with it.
 * Released with `opened`.
 */
export class NewFolder {
  readonly path: string;
  readonly goesOn: boolean;
  readonly #marker: Marker;

  private constructor(path: string, marker: Marker, goesOn: boolean) {
    this.path = path;
    this.#marker = marker;
    this.goesOn = goesOn;
  }

  /** Changes nothing yet. Throws `StartupError` for a folder that is in use, holds other things, or waits for another task. */
  static async open(dataDir: string, task: string, opened: AsyncDisposableStack): Promise<NewFolder> {
    const path = openDataFolder(dataDir);
    const lock = await takeLock(join(path, "weir.lock"));
    if (lock === null)
      throw new StartupError(
        `a server or another command works on ${path}: set WEIR_DATA_DIR to another, empty folder`,
      );
    opened.defer(() => lock.release());
    const marker = await readMarker(path);
    if (marker?.task === task) return new NewFolder(path, marker, true);
    if (marker)
      throw new StartupError(`${marker.task} into ${path} was interrupted: finish it, or remove the folder first`);
    if ((await readdir(path)).some((name) => !NOTHING.test(name)))
      throw new StartupError(`the data folder ${path} is not empty: set WEIR_DATA_DIR to a new folder`);
    return new NewFolder(path, { task, id: randomUUID() }, false);
  }

  get id(): string {
    return this.#marker.id;
  }

  async mark(): Promise<void> {
    if (this.goesOn) return;
    const path = join(this.path, RESTORING_FILE);
    const file = await open(`${path}.new`, "w", 0o600);
    await file.writeFile(JSON.stringify(this.#marker));
    await file.sync();
    await file.close();
    await rename(`${path}.new`, path);
    await syncFolder(this.path);
  }

  /** What has been copied so far, to be closed by the caller before `complete`. */
  openIndex(): ObjectIndex {
    const index = new ObjectIndex(join(this.path, COPIED));
    index.open();
    return index;
  }

  /** From here on a server may start. */
  async complete(): Promise<void> {
    await rm(join(this.path, COPIED), { force: true });
    await rm(join(this.path, RESTORING_FILE));
    await syncFolder(this.path);
  }
}

async function readMarker(folder: string): Promise<Marker | null> {
  const path = join(folder, RESTORING_FILE);
  if (!existsSync(path)) return null;
  const { id, task = "a restore by an earlier Weir" } = JSON.parse(await readFile(path, "utf8")) as Partial<Marker>;
  return { task, id: String(id) };
}
