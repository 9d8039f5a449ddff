import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";

/** Versions that are handed out: that of this server, and those of the servers before it. */
const KEPT = 5;
const ARCHIVE = /^([a-z][a-z-]*[a-z])-\d+\.\d+\.\d+[\w.-]*\.tgz$/;
const PREFIX = "/packages/";

export interface PackageArchives {
  /** Content by file name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** File name by the name of the package, for the version that fits this server. */
  readonly current: ReadonlyMap<string, string>;
}

/**
 * The npm archives that come with this server (`{name}-{version}.tgz` in `shipped`), and earlier ones that `folder` has kept, so that a project
 * that was installed from this server can be installed again after an upgrade. A version is part of the name and never changes its content.
 */
export async function openPackages(shipped: string, folder: string): Promise<PackageArchives> {
  const current = new Map<string, string>();
  await mkdir(folder, { recursive: true });
  for (const file of await archivesIn(shipped)) {
    current.set(packageOf(file), file);
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
  const files = new Map<string, Buffer>();
  for (const file of await archivesIn(folder)) files.set(file, await readFile(join(folder, file)));
  return { files, current };
}

class NotHandedOut extends Error {
  readonly statusCode = 404;
  readonly code = "not-found";

  constructor(file: string) {
    super(`${file} is not among the packages of this server: it has those of its own version and of the last ones`);
  }
}

/** `/packages/{name}-{version}.tgz`, and `/packages/{name}.tgz`, which redirects to the version that fits this server. */
export function servePackages(app: FastifyInstance, { files, current }: PackageArchives): void {
  app.get(`${PREFIX}:file`, (request, reply) => {
    const { file } = request.params as { file: string };
    const bytes = files.get(file);
    if (bytes)
      return reply.header("cache-control", "public, max-age=31536000, immutable").type("application/gzip").send(bytes);
    const latest = current.get(file.replace(/\.tgz$/, ""));
    if (latest === undefined) throw new NotHandedOut(file);
    return reply.header("cache-control", "no-store").redirect(PREFIX + latest, 302);
  });
}

async function removeOld(folder: string): Promise<void> {
  const byPackage = Map.groupBy(await archivesIn(folder), packageOf);
  for (const files of byPackage.values()) {
    const aged = await Promise.all(files.map(async (file) => ({ file, at: (await stat(join(folder, file))).mtimeMs })));
    const old = aged.sort((one, other) => other.at - one.at).slice(KEPT);
    await Promise.all(old.map(({ file }) => rm(join(folder, file), { force: true })));
  }
}

/** None where the folder does not exist, as in a clone without a build. */
async function archivesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => ARCHIVE.test(name)).sort();
}

const packageOf = (file: string): string => ARCHIVE.exec(file)?.[1] ?? file;

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
