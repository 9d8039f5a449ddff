import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type Rollup } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What a page loads for calls, uploads, tokens and webhooks together. */
const MAX_CORE_BYTES = 15_000;
/** Lists streams of the server that delivered the package, and meets one of its errors. */
const PROGRAM = `
import { signAccessJwt, verifyWebhook, WeirClient, WeirError } from "@weir/client";
const weir = new WeirClient({ baseUrl: process.env.WEIR, apiKey: process.env.KEY });
const { items } = await weir.streams.list({ limit: 1 });
const error = await weir.streams.get("unknown").catch((thrown) => thrown);
const unsigned = await verifyWebhook({ body: "{}", signature: null, sharedSecret: "s" });
console.log(JSON.stringify({
  isList: Array.isArray(items), isWeirError: error instanceof WeirError, code: error.code, hasRequest: error.requestId !== null,
  unsigned, sign: typeof signAccessJwt,
}));
`;
const TYPED = `
import { type NewStream, type Page, type Stream, WeirClient, type WeirError, type WeirErrorCode } from "@weir/client";
const weir = new WeirClient({ baseUrl: "http://localhost:8080", apiKey: "key" });
export const wanted: NewStream = { name: "stage", record: true };
export const made: Promise<Stream> = weir.streams.create(wanted, { idempotencyKey: "one" });
export const page: Promise<Page<Stream>> = weir.streams.list();
export const code = (error: WeirError): WeirErrorCode => error.code;
// @ts-expect-error a name is a string
export const wrong: NewStream = { name: 1 };
`;

const arena = shareArena();
const run = promisify(execFile);
let folder: string;
let archive: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-client-test-"));
  const short = await fetch(`${arena.weir.url}/packages/weir-client.tgz`, { redirect: "manual" });
  archive = new URL(short.headers.get("location") ?? "", arena.weir.url).href;
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", archive], { cwd: folder });
  await writeFile(join(folder, "program.js"), PROGRAM);
  await writeFile(join(folder, "typed.ts"), TYPED);
});
afterAll(() => rm(folder, { recursive: true }));

test.each([["of this repository", process.execPath], ...hostNodes()])(
  "the client that the server hands out, installed in an empty folder, speaks with it on the Node %s",
  async (_which, node) => {
    const env = { WEIR: arena.weir.url, KEY: arena.weir.apiKey };
    const { stdout } = await run(node, ["program.js"], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual({
      isList: true,
      isWeirError: true,
      code: "not-found",
      hasRequest: true,
      unsigned: null,
      sign: "function",
    });
  },
);

test("a TypeScript program gets the types of the client and of its requests and responses", async () => {
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--skipLibCheck", "false"];
  const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
  const { stdout } = await run(join(ROOT, "node_modules/.bin/tsc"), [...options, ...types, "typed.ts"], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toBe("");
});

test("the archive holds its README and its changes, and depends on no other package", async () => {
  const installed = join(folder, "node_modules/@weir/client");
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as Record<string, unknown>;
  expect(basename(new URL(archive).pathname)).toBe(`weir-client-${manifest.version}.tgz`);
  const files = (await readdir(installed, { recursive: true })).map(String);
  expect(files).toEqual(
    expect.arrayContaining(["README.md", "CHANGELOG.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]),
  );
  for (const path of files.filter((name) => basename(name) === "package.json")) {
    const { dependencies, peerDependencies, optionalDependencies, bundleDependencies } = JSON.parse(
      await readFile(join(installed, path), "utf8"),
    ) as Record<string, object | undefined>;
    const named = [dependencies, peerDependencies, optionalDependencies, bundleDependencies].flatMap((field) =>
      Object.keys(field ?? {}),
    );
    expect(named).toEqual([]);
  }
  const modules = files.filter((name) => /\.(js|d\.ts)$/.test(name));
  for (const path of modules)
    expect(await readFile(join(installed, path), "utf8")).not.toMatch(/from "(?!\.\/[\w-]+\.js")/);
});

test("a page that bundles it speaks with the server, and loads less than 15 KB of it", async () => {
  const entry = join(folder, "page.js");
  await writeFile(entry, 'export * from "@weir/client";');
  const [bundle] = (await build({
    root: folder,
    logLevel: "error",
    build: { write: false, lib: { entry, formats: ["es"] }, minify: true, target: "es2022" },
  })) as Rollup.RollupOutput[];
  const code = bundle?.output[0].code ?? "";
  const bytes = gzipSync(code).byteLength;
  console.log(`the client is ${bytes} bytes, bundled, minified and compressed`);
  expect(bytes).toBeGreaterThan(1_000);
  expect(bytes).toBeLessThan(MAX_CORE_BYTES);
  const page = await arena.browser.context.newPage();
  await page.route("**/bundle/*", (route) =>
    route.fulfill(
      route.request().url().endsWith(".js")
        ? { contentType: "text/javascript", body: code }
        : { contentType: "text/html", body: "<title>A page of a customer</title>" },
    ),
  );
  await page.goto(`${arena.weir.url}/bundle/page`);
  const called = `import("/bundle/client.js").then(async ({ WeirClient, WeirError }) => {
    const weir = new WeirClient({ baseUrl: location.origin, apiKey: "${arena.weir.apiKey}" });
    const error = await weir.streams.get("unknown").catch((thrown) => thrown);
    return [(await weir.ingest.list()).length > 0, error instanceof WeirError, error.code];
  })`;
  expect(await page.evaluate(called)).toEqual([true, true, "not-found"]);
  await page.close();
});

/** The machine's Node, which ran npm: 20.19 or newer. */
function hostNodes(): [string, string][] {
  const node = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((path) => !path.includes("node_modules"))
    .map((path) => join(path, "node"))
    .find(existsSync);
  return node === undefined ? [] : [["of the machine", node]];
}
