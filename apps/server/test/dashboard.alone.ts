import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { violationsOf } from "./support/dashboard-page.ts";
import { startPublisher } from "./support/publisher.ts";

/** Until the code of the other pages loads in the background, 3 s later. */
const MAX_FIRST_PAGE_BYTES = 200_000;

const arena = openArena();

/** A page and the errors of its scripts. */
async function openPage(): Promise<{ page: Page; problems: string[] }> {
  const page = await arena.browser.context.newPage();
  onTestFinished(() => page.close());
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  return { page, problems };
}

test("from the sign-in page to a moving picture: key, stream, test broadcast", async () => {
  const { client } = arena.weir;
  // A first try may have signed in and created streams.
  await arena.browser.context.clearCookies();
  for (const { id } of (await client.streams.list()).items) await client.streams.delete(id);
  const { page, problems } = await openPage();
  await page.goto(arena.weir.url);

  await page.getByLabel("API key").fill("not-the-key-of-this-server");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Unknown API key").waitFor();
  await page.getByLabel("API key").fill(arena.weir.apiKey);
  await page.getByRole("button", { name: "Sign in" }).click();

  await page.getByLabel("Name", { exact: true }).fill("Smoke");
  await page.getByRole("button", { name: "Create stream" }).click();
  await page.getByRole("heading", { name: "Smoke" }).waitFor();
  await page.getByRole("tab", { name: "Test broadcast" }).click();
  await page.getByRole("button", { name: "Send test broadcast" }).first().click();

  await page.locator("video").waitFor({ timeout: 30_000 });
  await expect.poll(() => shownFrames(page), { timeout: 20_000 }).toBeGreaterThan(60);
  await page.locator("dl > div", { hasText: "Latency" }).getByText(/\d s/).waitFor();
  const folder = await mkdtemp(join(tmpdir(), "weir-screenshots-"));
  await page.screenshot({ path: join(folder, "stream-live.png"), fullPage: true });
  console.log(`screenshots are in ${folder}`);

  const [stream] = (await client.streams.list()).items;
  expect([stream?.name, stream?.isActive, stream?.record]).toEqual(["Smoke", true, true]);
  expect(await page.content()).not.toContain(arena.weir.apiKey);

  // Its owner can watch it whatever its policy: on its page and, as a thumbnail, on the overview.
  await client.streams.patch(stream?.id ?? "", { playbackPolicy: { type: "jwt" } });
  await page.reload();
  await expect.poll(() => shownFrames(page), { timeout: 20_000 }).toBeGreaterThan(60);
  await page.goto(`${arena.weir.url}/streams/wall`);
  const tile = page.getByRole("listitem").filter({ hasText: "Smoke" });
  await tile.locator("img").waitFor();
  await tile.getByText("Live").waitFor();
  expect(await violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test("files are uploaded on the Assets page: one plays, another shows its error", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-assets-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  // A second try is not to meet the assets of the first.
  const name = `good-${randomUUID()}.flv`;
  const [good, broken] = [join(folder, name), join(folder, "broken.mp4")];
  await (await startPublisher({ url: good, seconds: 3, width: 320, height: 180, inRealTime: false })).ended;
  await writeFile(broken, "this is no video".repeat(1000));

  const { page, problems } = await openPage();
  await page.goto(`${arena.weir.url}/assets`);
  await page.getByLabel("Access").selectOption("jwt");
  await page.locator("input[type=file]").setInputFiles([good, broken]);
  const uploads = page.getByRole("region", { name: "Uploads" });
  await uploads.getByText("This file contains no readable video or audio").waitFor({ timeout: 20_000 });
  await uploads.getByText("Ready").waitFor({ timeout: 30_000 });
  await page.getByRole("link", { name }).click();
  await expect.poll(() => shownFrames(page), { timeout: 20_000 }).toBeGreaterThan(30);

  await page.getByRole("button", { name: "Share & embed" }).click();
  await page
    .getByRole("dialog")
    .getByText(/\/watch\/[a-z0-9]+$/)
    .waitFor();
  await page.getByRole("dialog").getByRole("tab", { name: "hls.js" }).click();
  await page.getByRole("dialog").getByText("/asset/hls/").waitFor();
  await page.keyboard.press("Escape");

  // The seek bar shows the thumbnail under the pointer, and at the position that a key moves to.
  const seekBar = page.getByRole("slider", { name: "seek" });
  const picture = page.locator(".w-player-preview > [style*=background-image]");
  await page.locator("media-time-range").hover();
  await picture.waitFor();
  await page.getByRole("heading", { name }).hover();
  await expect.poll(() => picture.isVisible()).toBe(false);
  // At its end the video goes no further, and shows nothing; back it goes from there.
  await expect.poll(() => page.locator("video").evaluate((video: { ended?: boolean }) => video.ended)).toBe(true);
  await seekBar.press("ArrowLeft");
  await picture.waitFor();

  // The strip of the clip maker shows the whole video; a handle on it moves frame by frame.
  await page.getByRole("group", { name: "Clip" }).locator("[style*=background-image]").nth(3).waitFor();
  await page.getByRole("button", { name: "Set start" }).click();
  const start = page.getByRole("slider", { name: "Start" });
  const before = Number(await start.getAttribute("aria-valuenow"));
  await start.press("ArrowLeft");
  const marked = await start.getAttribute("aria-valuenow");
  expect(before - Number(marked)).toBe(Math.min(before, 33));

  // A look at another tab forgets no marks.
  await page.getByRole("tab", { name: "Qualities" }).click();
  // The owner of a gated video gets its file too.
  const file = page.getByRole("link", { name: "MP4" }).first();
  await expect.poll(() => file.getAttribute("href")).toMatch(/\?jwt=owner/);
  expect((await page.request.get((await file.getAttribute("href")) ?? "")).status()).toBe(200);
  await page.getByRole("tab", { name: "Clips" }).click();
  await start.waitFor();
  expect(await start.getAttribute("aria-valuenow")).toBe(marked);
  expect(await violationsOf(page)).toEqual([]);
  expect(problems).toEqual([]);
});

test("the first page weighs at most 200 kB, with its headers", async () => {
  const { page } = await openPage();
  const network = await arena.browser.context.newCDPSession(page);
  await network.send("Network.enable");
  await network.send("Network.setCacheDisabled", { cacheDisabled: true });
  let bytes = 0;
  network.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(arena.weir.url);
  await page.getByText("Recent sessions").waitFor();
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(MAX_FIRST_PAGE_BYTES);
});

function shownFrames(page: Page): Promise<number> {
  return page.evaluate("document.querySelector('weir-player')?.video?.getVideoPlaybackQuality().totalVideoFrames ?? 0");
}
