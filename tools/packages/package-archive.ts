import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { ROOT, readSource } from "../source-files.ts";

/** Where the server looks for the archives. */
const BUILT = join(ROOT, "dist/packages");

/** One package of npm that the server hands out. */
export interface PackageArchive {
  /** `client` for `@weir/client`, whose folder is `packages/client`. */
  readonly name: string;
  readonly description: string;
  /** What the archive is made of, besides the compiler: files and folders. */
  readonly sources: readonly string[];
  /** Writes the code and the types into `dist` of this folder, and returns the fields of the manifest that lead to them. */
  stage(root: string): Promise<Readonly<Record<string, unknown>>>;
}

interface Manifest {
  readonly version: string;
  readonly license: string;
}

/**
 * Writes `dist/packages/weir-{name}-{version}.tgz` for `npm install`, as the server hands it out. The version ends with a hash of the content, so
 * that no two archives have the same name. Nothing is done if the sources are those of the archive that is there. Returns its path.
 */
export async function writeArchive(archive: PackageArchive): Promise<string> {
  const folder = `packages/${archive.name}`;
  const texts = [`${folder}/package.json`, `${folder}/README.md`, `${folder}/CHANGELOG.md`, "LICENSE"];
  const sources = [...archive.sources, ...texts, "tsconfig.base.json", "tools/packages", "tools/contract-types.ts"];
  const made = digestOf(sources.flatMap((path) => filesIn(join(ROOT, path))));
  const stamp = join(BUILT, `${archive.name}.sources.txt`);
  const [before] = archivesOf(archive.name);
  if (before && existsSync(stamp) && readFileSync(stamp, "utf8") === made) return before;
  const staging = mkdtempSync(join(tmpdir(), `weir-${archive.name}-`));
  try {
    const root = join(staging, "package");
    mkdirSync(root);
    const fields = await archive.stage(root);
    for (const path of texts.slice(1)) cpSync(join(ROOT, path), join(root, basename(path)));
    writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest(archive, root, fields), null, 2)}\n`);
    mkdirSync(BUILT, { recursive: true });
    for (const path of archivesOf(archive.name)) rmSync(path);
    execFileSync("npm", ["pack", "--silent", "--pack-destination", BUILT], { cwd: root, encoding: "utf8" });
    writeFileSync(stamp, made);
  } finally {
    rmSync(staging, { recursive: true });
  }
  const [written] = archivesOf(archive.name);
  if (!written) throw new Error(`npm pack wrote no archive of ${archive.name} to ${BUILT}`);
  return written;
}

function manifest({ name, description }: PackageArchive, root: string, fields: Readonly<Record<string, unknown>>) {
  const { version, license } = JSON.parse(readSource(`packages/${name}/package.json`)) as Manifest;
  return {
    name: `@weir/${name}`,
    // A letter first: a number could begin with a zero, which versions may not.
    version: `${version}-c${digestOf(filesIn(root)).slice(0, 10)}`,
    description,
    license,
    type: "module",
    ...fields,
  };
}

/** A hash of the names and contents of files. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    const bytes = readFileSync(path);
    hash.update(`${basename(path)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** All files below a path, in a fixed order, without what was installed there. */
function filesIn(path: string): string[] {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !relative(path, file).startsWith("node_modules"))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return [path];
    throw error;
  }
}

function archivesOf(name: string): string[] {
  if (!existsSync(BUILT)) return [];
  return readdirSync(BUILT)
    .filter((file) => file.startsWith(`weir-${name}-`) && file.endsWith(".tgz"))
    .map((file) => join(BUILT, file));
}
