import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root, without a trailing slash. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

const GENERATED = new Set(["node_modules", "dist", "release", "data", ".git"]);
/** Matches statements only: template strings may contain `from "…"` too. */
const IMPORT = /^(?:import|export)\s(?:[^"';]*?from\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** Files of the repository with one of these endings, as sorted paths relative to its root. Installed and generated files are excluded. */
export function sourceFiles(...endings: readonly string[]): string[] {
  const found = globSync(`**/*{${endings.join(",")},}`, {
    cwd: ROOT,
    exclude: (path) => GENERATED.has(posix.basename(path)),
  });
  return found.filter((path) => endings.some((ending) => path.endsWith(ending))).sort();
}

/** Tests, and modules that only tests import. */
export function isTest(path: string): boolean {
  return /(\.(test|loopback|alone|crash|hostile|long|nodes|peers|campaign)|-rig|-test-[a-z]+|\.fixture)\.tsx?$|\/testing\//.test(
    path,
  );
}

export function readSource(path: string): string {
  return readFileSync(`${ROOT}/${path}`, "utf8");
}

/** The imports of a module: paths relative to the repository's root for its own files, otherwise the specifiers. */
export function importsOf(path: string): string[] {
  return [...readSource(path).matchAll(IMPORT)].map(([, plain, dynamic]) => {
    const name = plain ?? dynamic ?? "";
    return name.startsWith(".")
      ? posix.normalize(posix.join(posix.dirname(path), name))
      : (workspaceFile(name) ?? name);
  });
}

/** The file behind a specifier such as `@weir/formats/mp4`. */
function workspaceFile(name: string): string | null {
  const [, workspace, rest = ""] = /^@weir\/([a-z]+)(?:\/(.+))?$/.exec(name) ?? [];
  if (!workspace) return null;
  const file = posix.join("packages", workspace, "src", rest, "index.ts");
  return existsSync(`${ROOT}/${file}`) ? file : null;
}
