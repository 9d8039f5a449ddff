import { mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { createApp } from "./app.ts";
import { openPackages, servePackages } from "./package-archives.ts";

let root: string;

beforeEach(() => {
  root = makeTestFolder("packages");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A server that was shipped with this version. */
async function serverWith(version: string | null) {
  const shipped = join(root, "shipped");
  rmSync(shipped, { recursive: true, force: true });
  mkdirSync(shipped);
  if (version !== null) writeFileSync(join(shipped, `weir-client-${version}.tgz`), `the bytes of ${version}`);
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "https://weir.test" });
  servePackages(app, await openPackages(shipped, join(root, "kept")));
  return (path: string) => app.inject({ url: `/packages/${path}` });
}

test("the client of this server is handed out under its version, for ever; the short name leads there and is not cached", async () => {
  const ask = await serverWith("0.1.0-c1");
  const archive = await ask("weir-client-0.1.0-c1.tgz");
  expect([archive.statusCode, archive.body, archive.headers["cache-control"]]).toEqual([
    200,
    "the bytes of 0.1.0-c1",
    "public, max-age=31536000, immutable",
  ]);
  const short = await ask("weir-client.tgz");
  expect([short.statusCode, short.headers.location, short.headers["cache-control"]]).toEqual([
    302,
    "/packages/weir-client-0.1.0-c1.tgz",
    "no-store",
  ]);
});

test("after upgrades the last five versions are there, the current one among them, and an unfinished copy is none", async () => {
  for (let version = 1; version <= 7; version++) {
    await serverWith(`0.${version}.0`);
    utimesSync(join(root, "kept", `weir-client-0.${version}.0.tgz`), version, version);
  }
  writeFileSync(join(root, "kept", "weir-client-0.9.0.tgz.unfinished"), "half");
  const ask = await serverWith("0.2.0");
  expect((await ask("weir-client.tgz")).headers.location).toBe("/packages/weir-client-0.2.0.tgz");
  const status = async (version: string) => (await ask(`weir-client-${version}.tgz`)).statusCode;
  expect(await Promise.all(["0.2.0", "0.4.0", "0.7.0", "0.3.0", "0.9.0"].map(status))).toEqual([
    200, 200, 200, 404, 404,
  ]);
  expect(readdirSync(join(root, "kept")).filter((name) => name.endsWith(".tgz"))).toHaveLength(5);
});

test("a server without a built client has none, and no name leads out of the folder", async () => {
  const ask = await serverWith(null);
  writeFileSync(join(root, "secret-1.0.0.tgz"), "secret");
  for (const path of ["weir-client.tgz", "..%2Fsecret-1.0.0.tgz", "../secret-1.0.0.tgz", "constructor", "__proto__"])
    expect((await ask(path)).statusCode).toBe(404);
});
