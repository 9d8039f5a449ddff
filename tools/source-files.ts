import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the repository is, without a slash at its end. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

const GENERATED = new Set(["node_modules", "dist", "release", "data", ".git"]);
/** Statements alone: texts in templates have `from "…"` in them too. */
const IMPORT = /^(?:import|export)\s(?:[^"';]*?from\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Files of the repository with one of these endings, as paths from its root, sorted. Installed and generated files are left out. */
export function sourceFiles(...endings: readonly string[]): string[] {
  const found = globSync(`**/*{${endings.join(",")},}`, {
    cwd: ROOT,
    exclude: (path) => GENERATED.has(posix.basename(path)),
  });
  return found.filter((path) => endings.some((ending) => path.endsWith(ending))).sort();
}

export function readSource(path: string): string {
  return readFileSync(`${ROOT}/${path}`, "utf8");
}

/** The imports of a module: paths from the repository's root for files of ours, else the names as they stand there. */
export function importsOf(path: string): string[] {
  return [...readSource(path).matchAll(IMPORT)].map(([, plain, dynamic]) => {
    const name = plain ?? dynamic ?? "";
    return name.startsWith(".")
      ? posix.normalize(posix.join(posix.dirname(path), name))
      : (workspaceFile(name) ?? name);
  });
}

/** `@weir/formats/mp4` as the file that it means. */
function workspaceFile(name: string): string | null {
  const [, workspace, rest = ""] = /^@weir\/([a-z]+)(?:\/(.+))?$/.exec(name) ?? [];
  if (!workspace) return null;
  const file = posix.join("packages", workspace, "src", rest, "index.ts");
  return existsSync(`${ROOT}/${file}`) ? file : null;
}
