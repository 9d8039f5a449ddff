import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { contractTypes } from "./contract-types.ts";
import { ROOT, readSource } from "./source-files.ts";

const CLIENT = "packages/client";
const CONTRACT = `"@weir/contract"`;
/** Where the server looks for it. */
const BUILT = join(ROOT, CLIENT, "dist");
/** What the archive is made of, besides the compiler. */
const SOURCES = [
  CLIENT,
  "packages/contract",
  "tools/client-package.ts",
  "tools/contract-types.ts",
  "tsconfig.base.json",
  "LICENSE",
];

interface Manifest {
  readonly version: string;
  readonly license: string;
}

/**
 * Writes `packages/client/dist/weir-client-{version}.tgz`: `@weir/client` as JavaScript modules with types, for `npm install`, as the server
 * hands it out. The contract's types are written into it, so it depends on no package. The version ends with a hash of the content,
 * so that no two archives have the same name. Nothing is done if the sources are those of the archive that is there.
 */
function writeClientPackage(): string {
  const made = digestOf(SOURCES.flatMap((path) => filesIn(join(ROOT, path))));
  const [stamp, archive] = [join(BUILT, "sources.txt"), archiveIn(BUILT)];
  if (archive && textOf(stamp) === made) return archive;
  const staging = mkdtempSync(join(tmpdir(), "weir-client-"));
  try {
    stage(staging);
    rmSync(BUILT, { recursive: true, force: true });
    mkdirSync(BUILT, { recursive: true });
    const pack = ["pack", "--silent", "--pack-destination", BUILT];
    execFileSync("npm", pack, { cwd: join(staging, "package"), encoding: "utf8" });
    writeFileSync(stamp, made);
  } finally {
    rmSync(staging, { recursive: true });
  }
  const written = archiveIn(BUILT);
  if (!written) throw new Error(`npm pack wrote no archive to ${BUILT}`);
  return written;
}

/** The compiler only writes here (`noCheck`): `npm run typecheck` has checked the same sources, and a newcomer's `npm ci` need not wait for that. */
function stage(staging: string): void {
  const root = join(staging, "package");
  const [compiled, dist] = [join(staging, "compiled"), join(root, "dist")];
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  execFileSync(tsc, ["-p", join(ROOT, CLIENT, "tsconfig.build.json"), "--outDir", compiled], { stdio: "inherit" });
  cpSync(join(compiled, "client/src"), dist, { recursive: true });
  writeFileSync(join(dist, "contract.d.ts"), contractTypes());
  for (const name of readdirSync(dist)) pointInside(join(dist, name));
  const types = reachable(dist, "index.d.ts", new Set());
  for (const name of readdirSync(dist)) if (name.endsWith(".d.ts") && !types.has(name)) rmSync(join(dist, name));
  for (const path of [`${CLIENT}/README.md`, `${CLIENT}/CHANGELOG.md`, "LICENSE"])
    cpSync(join(ROOT, path), join(root, basenameOf(path)));
  writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest(digestOf(filesIn(root))), null, 2)}\n`);
}

/** Imports of the contract lead to its types in the archive, and imports of types to JavaScript files, as compilers of customers want it. */
function pointInside(path: string): void {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".js") && text.includes(CONTRACT))
    throw new Error(`${path} imports code of the contract; the package includes only its types`);
  writeFileSync(path, text.replaceAll(CONTRACT, `"./contract.js"`).replaceAll(/("\.\/[\w-]+)\.ts"/g, '$1.js"'));
}

/** The declarations that those of `name` need. The others are of modules that only the client itself imports. */
function reachable(folder: string, name: string, found: Set<string>): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(folder, name), "utf8");
  for (const [, module = ""] of text.matchAll(/"\.\/([\w-]+)\.js"/g)) reachable(folder, `${module}.d.ts`, found);
  return found;
}

function manifest(digest: string) {
  const { version, license } = JSON.parse(readSource(`${CLIENT}/package.json`)) as Manifest;
  return {
    name: "@weir/client",
    // A letter first: a number could begin with a zero, which versions may not.
    version: `${version}-c${digest.slice(0, 10)}`,
    description: "A typed client of a Weir server",
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.19" },
    types: "./dist/index.d.ts",
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
  };
}

/** A hash of the names and contents of files. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    const bytes = readFileSync(path);
    hash.update(`${basenameOf(path)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex");
}

/** All files below a path, in a fixed order, without what was built or installed there. */
function filesIn(path: string): string[] {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !file.startsWith(BUILT) && !relative(path, file).startsWith("node_modules"))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return [path];
    throw error;
  }
}

function archiveIn(folder: string): string | null {
  if (!existsSync(folder)) return null;
  const [name] = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name.endsWith(".tgz"))
    .map((entry) => entry.name);
  return name === undefined ? null : join(folder, name);
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

const basenameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

console.log(writeClientPackage());
