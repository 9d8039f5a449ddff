import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ERROR_CODES } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApp } from "../../platform/http/app.ts";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { describedRoutes, markOrigin } from "../api/index.ts";
import { headingId } from "./docs-page.ts";
import { docsRoutes } from "./docs-routes.ts";
import { groupPath } from "./reference-pages.ts";

const FOLDER = fileURLToPath(new URL("../../../../../docs", import.meta.url));
const template = '<title>x</title><div id="docs"></div>';
const clock = new ManualClock();
const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" });

/**
 * Work of this thread between two looks, a millisecond apart unless it is stopped. What other programs do does not count, but they slow it down:
 * 41 ms were seen while another test suite ran.
 */
const MAX_STOP_MS = 80;

const get = async (url: string) => (await app.inject({ url })).body;

beforeAll(async () => {
  app.addHook("onRequest", async (request) =>
    markOrigin(request, String(request.headers["x-test-origin"] ?? "https://weir.test")),
  );
  docsRoutes(app, { source: { folder: FOLDER, template }, version: "1.2.3", clock });
  await app.ready();
});
afterAll(() => app.close());

describe("the documentation", () => {
  it("does not stop the event loop when its first reader comes, nor when the longest pages are read", async () => {
    expect(await longestStop(() => get("/docs"))).toBeLessThan(MAX_STOP_MS);
    expect(await get("/docs")).toContain("<h1");
    for (const url of [
      "/api/openapi.json",
      "/docs/search.json",
      "/llms.txt",
      "/docs/reference/streams",
      "/docs/reference/objects",
    ])
      expect(await longestStop(() => get(url))).toBeLessThan(MAX_STOP_MS);
  });

  it.each(["/docs/search.json", "/docs/reference/streams", "/api/openapi.json"])(
    "sends %s compressed, and not again to those who have it",
    async (url) => {
      const plain = await app.inject({ url });
      const ask = (headers: Record<string, string>) => app.inject({ url, headers });
      const br = await ask({ "accept-encoding": "gzip, br" });
      const gzip = await ask({ "accept-encoding": "gzip" });
      expect([br.headers["content-encoding"], gzip.headers["content-encoding"]]).toEqual(["br", "gzip"]);
      expect(brotliDecompressSync(br.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(gunzipSync(gzip.rawPayload).equals(plain.rawPayload)).toBe(true);
      expect(br.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
      expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
      const again = await ask({ "accept-encoding": "br", "if-none-match": String(br.headers.etag) });
      expect([again.statusCode, again.body, again.headers.vary]).toEqual([304, "", "Accept-Encoding"]);
    },
  );

  it("is not written anew for each name that one client makes up; others read it meanwhile", async () => {
    const ask = (name: number, remoteAddress = "192.0.2.1") =>
      app.inject({ url: "/llms.txt", remoteAddress, headers: { "x-test-origin": `https://${name}.test` } });
    const statuses: number[] = [];
    for (let name = 0; name < 30; name++) statuses.push((await ask(name)).statusCode);
    expect(statuses).toEqual([...Array<number>(20).fill(200), ...Array<number>(10).fill(429)]);
    expect((await ask(100, "192.0.2.2")).statusCode).toBe(200);
    clock.advance(60_000);
    expect((await ask(101)).statusCode).toBe(200);
  });

  it("has every guide, with links that lead to pages and headings that exist", async () => {
    const pages = [...(await get("/llms.txt")).matchAll(/\]\((\/docs\/[^)]+)\.md\)/g)].map(([, path = ""]) => path);
    expect(pages.length).toBeGreaterThan(100);
    const html = new Map<string, string>();
    for (const path of pages) html.set(path.replace(/\/index$/, ""), await get(path.replace(/\/index$/, "")));
    const broken = [...html].flatMap(([page, body]) =>
      [...body.matchAll(/href="(\/docs[^"#]*)?(?:#([^"]*))?"/g)].flatMap(([, path = page, anchor]) => {
        if (path.endsWith(".md")) return [];
        const target = html.get(path);
        const isThere =
          target !== undefined && (anchor === undefined || target.includes(`id="${decodeURIComponent(anchor)}"`));
        return isThere ? [] : [`${page}: ${path}#${anchor}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it("describes every operation under its noun, with samples in three languages", async () => {
    for (const { tag, route } of describedRoutes) {
      const page = await get(`/docs/${groupPath(tag)}`);
      expect(page).toContain(`id="${headingId(route.summary)}"`);
    }
    const streams = await get("/docs/reference/streams.md");
    expect(streams).toContain('curl -X POST "https://weir.test/api/stream"');
    expect(streams).toContain(
      'const weir = new WeirClient({ baseUrl: "https://weir.test", apiKey: process.env.WEIR_KEY });',
    );
    expect(streams).toContain("const answer = await weir.streams.create({");
    expect(streams).toContain('requests.post(\n    "https://weir.test/api/stream"');
    expect(streams).not.toContain("video.example.com");
  });

  it("has a page for every code of an error", async () => {
    for (const [code, { meaning, remedy }] of Object.entries(ERROR_CODES)) {
      const page = await get(`/docs/errors/${code}.md`);
      expect(page).toContain(meaning);
      expect(page).toContain(remedy);
    }
  });

  it("shows the commands of a guide without the marks that its tests read", async () => {
    for (const page of ["/docs/api", "/docs/api.md"]) {
      expect(await get(page)).toContain("npm run release:packages");
      expect(await get(page)).not.toContain("not-run: ");
    }
  });

  it("allows no script but its own, and connects to this server alone", async () => {
    const { headers } = await app.inject({ url: "/docs/reference" });
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers["content-security-policy"]).toContain("connect-src 'self'");
  });

  it("answers 404 for pages and files that it does not have", async () => {
    for (const url of ["/docs/nope", "/docs/../package.json", "/docs/%2e%2e/package.json", "/docs/nope.md"])
      expect((await app.inject({ url })).statusCode).toBe(404);
  });

  it("finds a heading by its words, and decisions not at all", async () => {
    const entries = JSON.parse(await get("/docs/search.json")) as { id: string; text: string }[];
    expect(entries.map(({ id }) => id)).toContain(
      "/docs/reference/streams#rotate-the-stream-key-a-publisher-with-the-old-key-is-disconnected",
    );
    expect(entries.filter(({ id }) => id.startsWith("/docs/decisions"))).toEqual([]);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  });
});

/** CPU milliseconds of the longest turn of the event loop while this works. */
async function longestStop(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  const worked = work().finally(() => {
    isDone = true;
  });
  let longest = 0;
  while (!isDone) {
    const before = process.threadCpuUsage();
    await setImmediate();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
  }
  await worked;
  return longest;
}
