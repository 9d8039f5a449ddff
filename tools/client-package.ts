import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, readSource } from "./source-files.ts";

const CLIENT = "packages/client";
const CONTRACT = `"@weir/contract"`;

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Writes `release/weir-client-{version}.tgz`: `@weir/client` as JavaScript modules with types, for `npm install`. It bundles the contract's types
 * because the contract is in no registry; it needs none of the contract's code.
 */
function writeClientPackage(): string {
  const staging = mkdtempSync(join(tmpdir(), "weir-client-"));
  try {
    const [compiled, dist] = [join(staging, "compiled"), join(staging, "package", "dist")];
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    execFileSync(tsc, ["-p", join(ROOT, CLIENT, "tsconfig.build.json"), "--outDir", compiled], { stdio: "inherit" });
    cpSync(join(compiled, "client/src"), dist, { recursive: true });
    cpSync(join(compiled, "contract/src"), join(dist, "contract"), {
      recursive: true,
      filter: (path) => !path.endsWith(".js"),
    });
    for (const name of readdirSync(dist).filter((file) => /\.(js|ts)$/.test(file))) pointAtContract(join(dist, name));
    for (const path of [`${CLIENT}/README.md`, "LICENSE"]) cpSync(join(ROOT, path), join(dist, "..", basenameOf(path)));
    writeFileSync(join(staging, "package", "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
    const release = join(ROOT, "release");
    mkdirSync(release, { recursive: true });
    const pack = ["pack", "--silent", "--pack-destination", release];
    const archive = execFileSync("npm", pack, { cwd: join(staging, "package"), encoding: "utf8" });
    return join(release, archive.trim());
  } finally {
    rmSync(staging, { recursive: true });
  }
}

function pointAtContract(path: string): void {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".js") && text.includes(CONTRACT))
    throw new Error(`${path} imports code of the contract; the package includes only its types`);
  writeFileSync(path, text.replaceAll(CONTRACT, `"./contract/index.js"`));
}

function manifest() {
  const { version, license } = JSON.parse(readSource(`${CLIENT}/package.json`)) as Manifest;
  const { dependencies } = JSON.parse(readSource("packages/contract/package.json")) as Manifest;
  return {
    name: "@weir/client",
    version,
    description: "A typed client of a Weir server",
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20.19" },
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    dependencies,
  };
}

const basenameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

console.log(writeClientPackage());
