import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { createApp } from "./app.ts";
import { openScripts, serveScripts } from "./open-scripts.ts";

let root: string;

beforeEach(() => {
  root = makeTestFolder("scripts");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A server that was shipped with these files. */
async function serverWith(files: Readonly<Record<string, string>>) {
  const shipped = join(root, "shipped");
  rmSync(shipped, { recursive: true, force: true });
  mkdirSync(shipped);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(shipped, name), content);
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "https://weir.test" });
  serveScripts(app, "player", await openScripts(shipped, join(root, "kept")));
  return (url: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { origin: "https://elsewhere.test", ...headers } });
}

const FIRST = { "player-0.1.0-c1.js": "one", "player-0.1.0-c1.js.br": "br of one", "player-hls-0.1.0-ca.js": "hls" };

test("any page may load a version for ever, in the coding that its browser reads; the short name leads there for five minutes", async () => {
  const ask = await serverWith(FIRST);
  const script = await ask("/player-0.1.0-c1.js");
  expect([script.statusCode, script.body]).toEqual([200, "one"]);
  expect(script.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": "text/javascript; charset=utf-8",
    vary: "Accept-Encoding",
  });
  const compressed = await ask("/player-0.1.0-c1.js", { "accept-encoding": "gzip, br" });
  expect([compressed.headers["content-encoding"], compressed.body]).toEqual(["br", "br of one"]);
  // Nothing is there in this coding.
  const plain = await ask("/player-0.1.0-c1.js", { "accept-encoding": "gzip" });
  expect([plain.headers["content-encoding"], plain.body]).toEqual([undefined, "one"]);
  expect((await ask("/player-hls-0.1.0-ca.js")).body).toBe("hls");
  const short = await ask("/player.js");
  expect([short.statusCode, short.headers.location]).toEqual([302, "/player-0.1.0-c1.js"]);
  expect(short.headers).toMatchObject({
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
    "cache-control": "public, max-age=300",
  });
});

test("after an upgrade a page that names the version before still loads it, with its chunk", async () => {
  await serverWith(FIRST);
  const ask = await serverWith({ "player-0.2.0-c2.js": "two", "player-hls-0.2.0-cb.js": "hls 2" });
  expect((await ask("/player.js")).headers.location).toBe("/player-0.2.0-c2.js");
  expect((await ask("/player-0.1.0-c1.js", { "accept-encoding": "br" })).body).toBe("br of one");
  expect((await ask("/player-hls-0.1.0-ca.js")).body).toBe("hls");
});

test("a server without a built player has none, and no name leads out of the folder", async () => {
  const ask = await serverWith({ "player.txt": "no script" });
  writeFileSync(join(root, "player-9.0.0.js"), "secret");
  for (const url of ["/player.js", "/player-9.0.0.js", "/player-..%2Fplayer-9.0.0.js", "/player-", "/player-__proto__"])
    expect([url, (await ask(url)).statusCode]).toEqual([url, 404]);
});
