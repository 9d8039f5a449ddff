import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, rmdir, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";

const run = promisify(execFile);
const IMAGE_BYTES = 2 * 1024 ** 3;
const UNMOUNT_WITHIN_MS = 60_000;
const MAKE = {
  ext4: ["mkfs.ext4", "-q", "-F"],
  xfs: ["mkfs.xfs", "-q"],
} as const;

export type FileSystem = keyof typeof MAKE;

/** Why this machine cannot cut the power of a disk; null if it can. */
export function whyNoPowerCuts(): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "mounting a disk needs root on Linux";
  if (!existsSync("/dev/loop-control")) return "there are no loop devices";
  const paths = (process.env.PATH ?? "").split(":").concat("/usr/sbin", "/sbin");
  const missing = ["mkfs.ext4", "mkfs.xfs", "xfs_io"].find(
    (name) => !paths.some((path) => existsSync(join(path, name))),
  );
  return missing ? `there is no ${missing}: apt-get install --no-install-recommends e2fsprogs xfsprogs` : null;
}

/** A disk in a file, mounted at `folder`, which forgets at a power cut what was not synced. */
export class PowerCutDisk implements AsyncDisposable {
  readonly folder: string;
  readonly #image: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#image = `${folder}.img`;
  }

  static async make(fileSystem: FileSystem): Promise<PowerCutDisk> {
    const disk = new PowerCutDisk(await mkdtemp(join(tmpdir(), `weir-power-${fileSystem}-`)));
    await writeFile(disk.#image, "");
    await truncate(disk.#image, IMAGE_BYTES);
    const [program, ...args] = MAKE[fileSystem];
    await run(program, [...args, disk.#image], { env: PATHS });
    await disk.#mount();
    return disk;
  }

  /** Writes everything to the disk. */
  async sync(): Promise<void> {
    await run("sync", ["-f", this.folder]);
  }

  /** From now on nothing is written, and what was only in memory is lost: `FS_IOC_SHUTDOWN` without a flush of the file system's log. */
  async cutPower(): Promise<void> {
    await run("xfs_io", ["-x", "-c", "shutdown", this.folder], { env: PATHS });
  }

  /** Mounts it again, as after a power cut. No process may use it. */
  async powerUp(): Promise<void> {
    await this.#unmount();
    await this.#mount();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#unmount();
    await rm(this.#image);
    await rmdir(this.folder);
  }

  async #mount(): Promise<void> {
    await run("mount", ["-o", "loop", this.#image, this.folder], { env: PATHS });
  }

  /** Resolves when the loop device is gone too. Namespaces of processes that were just killed keep it for a moment. */
  async #unmount(): Promise<void> {
    const within = { timeout: UNMOUNT_WITHIN_MS, interval: 100 };
    const isUnmounted = () =>
      run("umount", [this.folder], { env: PATHS }).then(
        () => true,
        () => false,
      );
    await vi.waitUntil(isUnmounted, within);
    // A mount of the same image would use it again, as it was after the power cut.
    const isFree = async () => (await run("losetup", ["-j", this.#image], { env: PATHS })).stdout === "";
    await vi.waitUntil(isFree, within);
  }
}

const PATHS = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
