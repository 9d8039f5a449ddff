import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The program contains its own fake server, so that it does not need the test's. */
const PROGRAM = `
import { signAccessJwt, verifyWebhook, WeirClient, WeirError } from "@weir/client";
const weir = new WeirClient({
  baseUrl: "http://weir.example",
  apiKey: "key",
  fetch: async (url) => url.endsWith("/api/stream/one")
    ? Response.json({ id: "one", name: "stage" })
    : Response.json({ errors: ["not found"], code: "not-found" }, { status: 404 }),
});
const { name } = await weir.streams.get("one");
const error = await weir.streams.get("two").catch((thrown) => thrown);
const unsigned = await verifyWebhook({ body: "{}", signature: null, sharedSecret: "s" });
console.log(JSON.stringify({ name, isWeirError: error instanceof WeirError, code: error.code, unsigned, sign: typeof signAccessJwt }));
`;
const TYPED = `
import { type NewStream, type Page, type Stream, WeirClient, type WeirError } from "@weir/client";
const weir = new WeirClient({ baseUrl: "http://localhost:8080", apiKey: "key" });
export const wanted: NewStream = { name: "stage", record: true };
export const made: Promise<Stream> = weir.streams.create(wanted);
export const page: Promise<Page<Stream>> = weir.streams.list();
export const code = (error: WeirError): string | null => error.code;
// @ts-expect-error a name is a string
export const wrong: NewStream = { name: 1 };
`;

const run = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-client-test-"));
  const { stdout: archive } = await run("npm", ["run", "--silent", "release:client"], { cwd: ROOT });
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", archive.trim()], { cwd: folder });
  await writeFile(join(folder, "program.js"), PROGRAM);
  await writeFile(join(folder, "typed.ts"), TYPED);
});
afterAll(() => rm(folder, { recursive: true }));

test.each([["of this repository", process.execPath], ...hostNodes()])(
  "the client's archive, installed in an empty folder, runs on the Node %s",
  async (_which, node) => {
    const { stdout } = await run(node, ["program.js"], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({
      name: "stage",
      isWeirError: true,
      code: "not-found",
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

/** The machine's Node, which ran npm: 20.19 or newer. */
function hostNodes(): [string, string][] {
  const node = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((path) => !path.includes("node_modules"))
    .map((path) => join(path, "node"))
    .find(existsSync);
  return node === undefined ? [] : [["of the machine", node]];
}
