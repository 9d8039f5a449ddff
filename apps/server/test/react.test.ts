import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { shareArena } from "./support/arena.ts";
import { CustomerSite } from "./support/customer-site.ts";
import { clientIn, signedInPage } from "./support/dashboard-page.ts";

const PAGE = fileURLToPath(new URL("support/react-page.js", import.meta.url));
const REACT = fileURLToPath(new URL("../../../packages/react/src/index.ts", import.meta.url));
/** More than the first chunk of an upload. */
const PADDING_BYTES = 2 * 1024 * 1024;

const arena = shareArena();
let folder: string;
let site: CustomerSite;
/** Made for pages of the site. */
let pageKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-react-test-"));
  await build({
    configFile: false,
    logLevel: "error",
    resolve: { alias: { "@weir/react": REACT } },
    define: { "process.env.NODE_ENV": '"development"' },
    build: { outDir: folder, lib: { entry: PAGE, formats: ["es"], fileName: "page" }, minify: false },
  });
  await writeFile(join(folder, "index.html"), '<div id="root"></div><script type="module" src="/page.js"></script>');
  site = await CustomerSite.open(folder);
  const dashboard = await signedInPage(arena);
  const access = { cors: { allowedOrigins: [site.origin] } };
  pageKey = (await clientIn(dashboard, arena.weir).apiTokens.create({ name: "page", access })).key;
  await dashboard.close();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** The customer's page. */
async function openPage(query: Readonly<Record<string, string>>): Promise<Page> {
  const page = await arena.browser.context.newPage();
  onTestFinished(() => page.close());
  await page.goto(`${site.origin}/?${new URLSearchParams({ server: arena.weir.url, key: pageKey, ...query })}`);
  return page;
}

test("a React page of another site uploads a file across cut connections and a reload, in one upload", async () => {
  await using made = await makeFile({ format: "mp4", video: { encoder: "libx264", width: 320, height: 180 } });
  // A box of a kind that readers skip (ISO/IEC 14496-12 8.1.2).
  const box = Buffer.alloc(PADDING_BYTES);
  box.writeUInt32BE(PADDING_BYTES);
  box.write("free", 4);
  await appendFile(made.path, box);

  const page = await openPage({ upload: "yes" });
  const sent: string[] = [];
  let chunks = 0;
  let isCut = true;
  await page.route("**/api/asset/upload/tus**", async (route) => {
    const method = route.request().method();
    sent.push(method);
    // The first chunk arrives; after it the line is dead until the page was loaded again.
    if (method === "PATCH" && ++chunks > 1 && isCut) return route.abort("connectionreset");
    return route.continue();
  });
  const said = () => page.locator("#upload").textContent();
  await page.getByLabel("File").setInputFiles(made.path);
  await expect.poll(() => chunks).toBeGreaterThan(2);
  expect(await said()).toMatch(/^uploading 0\.[1-9]/);

  await page.reload();
  isCut = false;
  sent.length = 0;
  await page.getByLabel("File").setInputFiles(made.path);
  await expect.poll(said, { timeout: 60_000 }).toMatch(/^ready 1 [a-z0-9]+/);
  expect([sent[0], sent.includes("POST")]).toEqual(["HEAD", false]);
});

test("a key that was not made for this page is refused there with what to do; one that was reads the stream", async () => {
  const { id: stream } = await arena.weir.client.streams.create({ name: "On stage", profiles: [] });
  const shown = (page: Page) => page.locator("#stream").textContent();
  const page = await openPage({ stream });
  await expect.poll(() => shown(page)).toBe("On stage");
  const refused = await openPage({ stream, key: arena.weir.apiKey });
  await expect.poll(() => shown(refused)).toContain("This API key was not made for pages of this origin");
});
