import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

/** Versions of each file that are handed out: that of this server, and those of the servers before it. */
const KEPT = 5;
/** `{name}-{version}{.ending}`: a version is part of the name and never changes its content. */
const VERSIONED = /^([a-z][a-z-]*[a-z])-\d+\.\d+\.\d+[\w-]*(?:\.[\w-]+)*?(\.tgz|\.js(?:\.br|\.gz)?)$/;

export interface KeptFiles {
  readonly folder: string;
  readonly names: readonly string[];
  /** Names by the name without version, such as `weir-client.tgz`: the files that fit this server. */
  readonly current: ReadonlyMap<string, string>;
}

/**
 * Copies the versioned files that come with this server (in `shipped`) into `folder`, beside those that earlier servers left there, so that what
 * was linked to or installed from this server works after an upgrade.
 */
export async function keepFiles(shipped: string, folder: string): Promise<KeptFiles> {
  const current = new Map<string, string>();
  await mkdir(folder, { recursive: true });
  for (const file of await versionedIn(shipped)) {
    current.set(unversioned(file), file);
    const kept = join(folder, file);
    // Under another name until it is whole: a start may be cut short.
    if (!(await exists(kept))) {
      await copyFile(join(shipped, file), `${kept}.unfinished`);
      await rename(`${kept}.unfinished`, kept);
    }
    // The order of the starts that brought them.
    const now = new Date();
    await utimes(kept, now, now);
  }
  await removeOld(folder);
  return { folder, names: await versionedIn(folder), current };
}

async function removeOld(folder: string): Promise<void> {
  const byName = Map.groupBy(await versionedIn(folder), unversioned);
  for (const files of byName.values()) {
    const aged = await Promise.all(files.map(async (file) => ({ file, at: (await stat(join(folder, file))).mtimeMs })));
    const old = aged.sort((one, other) => other.at - one.at).slice(KEPT);
    await Promise.all(old.map(({ file }) => rm(join(folder, file), { force: true })));
  }
}

/** None where the folder does not exist, as in a clone without a build. */
async function versionedIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => VERSIONED.test(name)).sort();
}

const unversioned = (file: string): string => file.replace(VERSIONED, "$1$2");

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
