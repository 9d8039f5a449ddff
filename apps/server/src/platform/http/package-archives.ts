import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { keepFiles } from "./kept-files.ts";

const PREFIX = "/packages/";

export interface PackageArchives {
  /** Content by file name. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** File name by the short name, such as `weir-client.tgz`, for the version that fits this server. */
  readonly current: ReadonlyMap<string, string>;
}

/** The npm archives that come with this server (`{name}-{version}.tgz` in `shipped`), and earlier ones that `folder` has kept. */
export async function openPackages(shipped: string, folder: string): Promise<PackageArchives> {
  const { names, current } = await keepFiles(shipped, folder);
  const files = new Map<string, Buffer>();
  for (const name of names) files.set(name, await readFile(join(folder, name)));
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
    const latest = current.get(file);
    if (latest === undefined) throw new NotHandedOut(file);
    return reply.header("cache-control", "no-store").redirect(PREFIX + latest, 302);
  });
}
