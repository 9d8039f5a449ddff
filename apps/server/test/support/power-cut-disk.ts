import { execFile } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
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
  readonly #options: readonly string[];
  #device = "";

  private constructor(folder: string, fileSystem: FileSystem) {
    this.folder = folder;
    this.#image = `${folder}.img`;
    // XFS mounts no second file system of the same id.
    this.#options = fileSystem === "xfs" ? ["-o", "nouuid"] : [];
  }

  static async make(fileSystem: FileSystem): Promise<PowerCutDisk> {
    const disk = new PowerCutDisk(await mkdtemp(join(tmpdir(), `weir-power-${fileSystem}-`)), fileSystem);
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

  /** From now on it can only be read, as after an error of the disk; ext4 alone. Until `powerUp`. */
  async makeReadOnly(): Promise<void> {
    await run("mount", ["-o", "remount,abort", this.folder], { env: PATHS });
  }

  /** Takes all but `freeBytes` of it. Resolves with what gives the space back. */
  async fill(freeBytes: number): Promise<() => Promise<void>> {
    const filler = join(this.folder, "filler");
    const { bavail, bsize } = statfsSync(this.folder);
    await run("fallocate", ["--length", String(Math.max(bavail * bsize - freeBytes, 1)), filler]);
    return () => rm(filler, { force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#unmount();
    await rm(this.#image);
    await rmdir(this.folder);
  }

  /** On a loop device of its own: a process of another test may have a mount namespace that still holds the one before. */
  async #mount(): Promise<void> {
    const { stdout } = await run("losetup", ["--find", "--show", this.#image], { env: PATHS });
    this.#device = stdout.trim();
    await run("mount", [...this.#options, this.#device, this.folder], { env: PATHS });
  }

  async #unmount(): Promise<void> {
    const isUnmounted = () =>
      run("umount", [this.folder], { env: PATHS }).then(
        () => true,
        () => false,
      );
    await vi.waitUntil(isUnmounted, { timeout: UNMOUNT_WITHIN_MS, interval: 100 });
    await run("losetup", ["--detach", this.#device], { env: PATHS });
  }
}

const PATHS = { PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
