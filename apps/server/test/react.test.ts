import { appendFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { shareArena } from "./support/arena.ts";
import { ReactSite } from "./support/react-site.ts";

/** More than the first chunk of an upload. */
const PADDING_BYTES = 2 * 1024 * 1024;

const arena = shareArena();
let site: ReactSite;

beforeAll(async () => {
  site = await ReactSite.open(arena);
});
afterAll(() => site[Symbol.asyncDispose]());

test("a React page of another site uploads a file across cut connections and a reload, in one upload", async () => {
  await using made = await makeFile({ format: "mp4", video: { encoder: "libx264", width: 320, height: 180 } });
  // A box of a kind that readers skip (ISO/IEC 14496-12 8.1.2).
  const box = Buffer.alloc(PADDING_BYTES);
  box.writeUInt32BE(PADDING_BYTES);
  box.write("free", 4);
  await appendFile(made.path, box);

  const page = await site.page({ upload: "yes" });
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
  // What becomes of the file waits for those of other tests.
  await expect.poll(said, { timeout: 60_000 }).toMatch(/^(processing|ready) /);
  expect([sent[0], sent.includes("POST")]).toEqual(["HEAD", false]);
});

test("a key that was not made for this page is refused there with what to do; one that was reads the stream", async () => {
  const { id: stream } = await arena.weir.client.streams.create({ name: "On stage", profiles: [] });
  const shown = (page: Page) => page.locator("#stream").textContent();
  const page = await site.page({ stream });
  await expect.poll(() => shown(page)).toBe("On stage");
  const refused = await site.page({ stream, key: arena.weir.apiKey });
  await expect.poll(() => shown(refused)).toContain("This API key was not made for pages of this origin");
});
