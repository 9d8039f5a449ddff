import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WeirProcess } from "./support/weir-process.ts";

const GENERATORS = fileURLToPath(new URL("../../../tools/api-generators", import.meta.url));
const PROGRAMS = fileURLToPath(new URL("./support/generated-clients", import.meta.url));
const missing = existsSync(join(GENERATORS, "node_modules"))
  ? null
  : "generators of clients are not installed: npm ci --prefix tools/api-generators";
const STRICT = ["--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
const RUNNABLE = ["--module", "commonjs", "--moduleResolution", "node10", "--esModuleInterop", "--skipLibCheck"];
const run = promisify(execFile);

describe.skipIf(missing !== null)(
  `clients made from the API's description${missing === null ? "" : `: ${missing}`}`,
  () => {
    let weir: WeirProcess;
    let folder: string;
    const generator = (name: string) => join(GENERATORS, "node_modules/.bin", name);

    beforeAll(async () => {
      weir = await WeirProcess.start();
      folder = await mkdtemp(join(tmpdir(), "weir-generated-"));
      await symlink(join(GENERATORS, "node_modules"), join(folder, "node_modules"));
      await cp(PROGRAMS, folder, { recursive: true });
      await writeFile(join(folder, "openapi.json"), await (await fetch(`${weir.url}/api/openapi.json`)).text());
    });
    afterAll(async () => {
      await weir[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    test.each([
      {
        name: "openapi-typescript",
        program: "openapi-typescript-client.txt",
        args: ["openapi.json", "-o", "api/schema.ts"],
      },
      { name: "openapi-ts", program: "hey-api-client.txt", args: ["-i", "openapi.json", "-o", "api"] },
    ])(
      "$name makes one with named types that compiles in strict mode and calls the server",
      async ({ name, program, args }) => {
        const project = join(folder, name);
        await mkdir(join(project, "api"), { recursive: true });
        await cp(join(folder, "openapi.json"), join(project, "openapi.json"));
        await cp(join(folder, program), join(project, "program.ts"));
        await run(generator(name), args, { cwd: project });
        await run(generator("tsc"), ["program.ts", "--outDir", "built", ...STRICT, ...RUNNABLE], { cwd: project });
        const env = { ...process.env, WEIR_URL: weir.url, WEIR_KEY: weir.apiKey };
        const { stdout } = await run(process.execPath, ["built/program.js"], { cwd: project, env });
        expect(stdout.trim()).toBe("generated 1 not-found");
      },
    );
  },
);
