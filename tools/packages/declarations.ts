import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { contractTypes } from "../contract-types.ts";
import { withCompiled } from "./compiled.ts";

/** The packages of the repository that types may come from, and where those are below the folder of all packages. */
const OURS: Readonly<Record<string, string>> = {
  "@weir/client": "client/src/index.d.ts",
  "@weir/player": "player/src/index.d.ts",
  "@weir/player/broadcast": "player/src/broadcast/index.d.ts",
};
const CONTRACT = "contract.d.ts";

/** Writes the declarations of a package into `folder`, with those of other packages of the repository that they need. */
export function writeDeclarations(name: string, folder: string): void {
  withCompiled(name, (compiled) => {
    const done = new Set<string>();
    const copy = (path: string): void => {
      if (done.has(path)) return;
      done.add(path);
      const [text, needed] = path === CONTRACT ? [contractTypes(), []] : declaration(compiled, path);
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      for (const other of needed) copy(other);
    };
    for (const path of Object.values(OURS)) if (path.startsWith(`${name}/`)) copy(path);
    copy(`${name}/src/index.d.ts`);
  });
}

/** A declaration whose imports lead to files of the archive, as compilers of customers want it, and what it imports. */
function declaration(compiled: string, path: string): [text: string, needed: readonly string[]] {
  const needed: string[] = [];
  const from = posix.dirname(path);
  const text = readFileSync(join(compiled, path), "utf8").replaceAll(
    /(?<=(?:from|import\() ?)"([^"]+)"/g,
    (whole, module: string) => {
      const target = targetOf(from, module);
      if (target === null) return whole;
      needed.push(target);
      const way = posix.relative(from, target).replace(/\.d\.ts$/, ".js");
      return `"${way.startsWith(".") ? way : `./${way}`}"`;
    },
  );
  return [text, needed];
}

/** Null for a package of npm. */
function targetOf(from: string, module: string): string | null {
  if (module.startsWith("@weir/contract")) return CONTRACT;
  if (module.startsWith(".")) return posix.join(from, module).replace(/\.ts$/, ".d.ts");
  return OURS[module] ?? null;
}
