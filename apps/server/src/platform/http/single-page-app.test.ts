import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { createApp } from "./app.ts";
import { addSinglePageApp } from "./single-page-app.ts";

let folder: string;
let app: FastifyInstance;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-page-"));
  app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" });
});

afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (url: string, accept = "text/html,*/*") => app.inject({ url, headers: { accept } });

test("an app that is not built says how to build it", async () => {
  expect(await addSinglePageApp(app, { folder, reservedPrefixes: [], mediaOrigin: null })).toBe(false);
  expect((await get("/")).body).toContain("npm run build");
});

describe("a built app", () => {
  beforeEach(async () => {
    mkdirSync(join(folder, "static"));
    writeFileSync(join(folder, "index.html"), "<page>");
    writeFileSync(join(folder, "favicon.svg"), "<svg>");
    writeFileSync(join(folder, "static", "app-abc123.js"), "code");
    symlinkSync("/etc/passwd", join(folder, "link"));
    await addSinglePageApp(app, { folder, reservedPrefixes: ["/api/"], mediaOrigin: "https://s3.test" });
  });

  test.each(["/", "/index.html", "/streams/1234?tab=health"])(
    "%s is its page, asked for each time, under a policy",
    async (url) => {
      const response = await get(url);
      expect([response.statusCode, response.body]).toEqual([200, "<page>"]);
      expect(response.headers["cache-control"]).toBe("no-cache");
      expect(response.headers["content-security-policy"]).toContain("script-src 'self';");
      expect(response.headers["content-security-policy"]).toContain("connect-src 'self' https://s3.test;");
    },
  );

  test.each(["GET", "HEAD"] as const)("%s / is 200 for a check that asks for no type", async (method) => {
    const response = await app.inject({ method, url: "/?from=monitor" });
    expect([response.statusCode, response.body]).toEqual([200, method === "GET" ? "<page>" : ""]);
    expect((await app.inject({ method, url: "/", headers: { accept: "application/json" } })).statusCode).toBe(200);
    expect((await app.inject({ method, url: "/streams" })).statusCode).toBe(404);
  });

  test("a file with a hash in its name is kept for good", async () => {
    const response = await get("/static/app-abc123.js", "*/*");
    expect([response.statusCode, response.body]).toEqual([200, "code"]);
    expect(response.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  test.each(["/api/nothing", "/static/app-old.js", "/static/../../secret", "/%2e%2e/secret"])(
    "%s is not found",
    async (url) => {
      const response = await get(url, url.startsWith("/api") ? "text/html" : "*/*");
      expect([response.statusCode, response.json()]).toMatchObject([404, { code: "unknown-path" }]);
    },
  );

  test("a text is sent as the build compressed it, to clients that take that", async () => {
    writeFileSync(join(folder, "static", "app-abc123.js.br"), "brotli");
    const ask = (encoding: string) =>
      app.inject({ url: "/static/app-abc123.js", headers: { "accept-encoding": encoding } });
    const compressed = await ask("gzip, br");
    expect([compressed.body, compressed.headers["content-encoding"]]).toEqual(["brotli", "br"]);
    expect(compressed.headers).toMatchObject({
      "content-type": "application/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: expect.stringContaining("accept-encoding"),
    });
    const plain = await ask("identity");
    expect([plain.body, plain.headers["content-encoding"]]).toEqual(["code", undefined]);
    expect((await app.inject({ url: "/static/app-abc123.js.br" })).statusCode).toBe(404);
  });

  test("a link in the folder is not followed", async () => {
    expect((await get("/link", "*/*")).statusCode).toBe(404);
  });
});
