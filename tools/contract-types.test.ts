import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { contractTypes } from "./contract-types.ts";
import { ROOT, readSource, sourceFiles } from "./source-files.ts";

/** Types of a table of routes: a program that has the client needs none. */
const ROUTES = ["AnswerOf", "BodyOf", "ErrorKind", "LaterRoute", "Operation", "Route", "RouteName", "RouteOf"];

test("the types in the client's archive are those of the contract, and import nothing", async () => {
  const types = contractTypes();
  expect(types).not.toMatch(/^import|: any\b/m);
  const written = namesIn(types);
  const sources = sourceFiles(".ts").filter((path) => /^packages\/contract\/src\/[\w-]+\.ts$/.test(path));
  const inContract = new Set(sources.flatMap((path) => namesIn(readSource(path))));
  expect([...inContract].filter((name) => !written.includes(name)).sort()).toEqual(ROUTES);
  const compared = written.filter((name) => inContract.has(name));
  expect(compared.length).toBeGreaterThan(80);
  const folder = await mkdtemp(join(tmpdir(), "weir-types-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "written.ts"), types);
  const each = compared.map(
    (name) => `export const to${name} = (value: Contract.${name}): Written.${name} => value;
export const from${name} = (value: Written.${name}): Contract.${name} => value;`,
  );
  const imports = `import type * as Contract from "@weir/contract";\nimport type * as Written from "./written.ts";`;
  await writeFile(join(folder, "compared.ts"), [imports, ...each].join("\n"));
  const config = {
    extends: join(ROOT, "tsconfig.base.json"),
    compilerOptions: { types: [], paths: { "@weir/contract": [join(ROOT, "packages/contract/src/index.ts")] } },
    files: ["compared.ts"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const compiler = promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["-p", folder]);
  const { stdout } = await compiler.catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

const namesIn = (text: string): string[] =>
  [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = ""]) => name);
