import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contractTypes } from "../contract-types.ts";
import { withCompiled } from "./compiled.ts";
import type { PackageArchive } from "./package-archive.ts";

const CLIENT = "packages/client";
const CONTRACT = `"@weir/contract"`;

/** `@weir/client` as JavaScript modules with types. The contract's types are written into it, so it depends on no package. */
export const clientPackage: PackageArchive = {
  name: "client",
  description: "A typed client of a Weir server",
  sources: [`${CLIENT}/src`, `${CLIENT}/tsconfig.build.json`, "packages/contract/src"],
  stage: async (root) => {
    compile(join(root, "dist"));
    const types = "./dist/index.d.ts";
    return {
      sideEffects: false,
      engines: { node: ">=20.19" },
      types,
      exports: { ".": { types, default: "./dist/index.js" }, "./package.json": "./package.json" },
    };
  },
};

function compile(dist: string): void {
  withCompiled("client", (compiled) => cpSync(join(compiled, "client/src"), dist, { recursive: true }));
  writeFileSync(join(dist, "contract.d.ts"), contractTypes());
  for (const name of readdirSync(dist)) pointInside(join(dist, name));
  const types = reachable(dist, "index.d.ts", new Set());
  for (const name of readdirSync(dist)) if (name.endsWith(".d.ts") && !types.has(name)) rmSync(join(dist, name));
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
