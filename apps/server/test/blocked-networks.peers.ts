import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { startChromiumThrough } from "./support/chromium.ts";
import { BlockedNetwork } from "./support/coturn.ts";
import { CustomerSite } from "./support/customer-site.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** Of the first picture, from the moment at which the page was opened. */
const WITHIN_MS = 2000;

const playerPage = (server: string, playbackId: string): string => `<!doctype html>
  <script type="module" src="${server}/player.js"></script>
  <weir-player playback-id="${playbackId}" label="Behind a firewall" low-latency></weir-player>
  <script>
    let firstPictureMs = null;
    const player = document.querySelector("weir-player");
    player.addEventListener("loadeddata", () => (firstPictureMs ??= performance.now()));
  </script>`;

const closing = new AsyncDisposableStack();
let network: BlockedNetwork;
let folder: string;
let site: CustomerSite;
/** In a network that lets no UDP out. */
let browser: Browser;

beforeAll(async () => {
  network = closing.use(new BlockedNetwork());
  folder = await mkdtemp(join(tmpdir(), "weir-blocked-"));
  closing.defer(() => rm(folder, { recursive: true }));
  site = closing.use(await CustomerSite.open(folder, network.weirAddress));
  browser = await startChromiumThrough(network.ofViewer);
  closing.defer(() => browser.close());
});
afterAll(() => closing.disposeAsync());

/** A server that viewers reach, and its address for them. */
async function startWeir() {
  const env = { WEIR_HOST: "0.0.0.0", WEIR_WEBRTC_ADDRESS: network.weirAddress };
  const weir = await WeirProcess.start({ env });
  onTestFinished(() => weir[Symbol.asyncDispose]());
  return { weir, address: `http://${network.weirAddress}:${weir.httpPort}` };
}

/** A page of another origin than the server's, in a browser that has nothing of it yet. */
async function openPage(html: string): Promise<Page> {
  await writeFile(join(folder, "index.html"), html);
  const context = await browser.newContext({ permissions: [] });
  const page = await context.newPage();
  await page.goto(site.origin);
  return page;
}

const firstPicture = (page: Page): Promise<number | null> => page.evaluate("firstPictureMs");
const isByWebrtc = (page: Page): Promise<boolean> =>
  page.evaluate("player.video?.srcObject instanceof MediaStream && player.video.readyState >= 2");

/** Watches as the first viewer, for whom the server starts what it needs, and then measures another one. Returns that one's page. */
async function measured(html: string): Promise<{ readonly page: Page; readonly firstPictureMs: number }> {
  let page = await openPage(html);
  await expect.poll(() => firstPicture(page), { timeout: 20_000 }).not.toBeNull();
  await page.context().close();
  page = await openPage(html);
  onTestFinished(() => page.context().close());
  await expect.poll(() => firstPicture(page), { timeout: 20_000 }).not.toBeNull();
  return { page, firstPictureMs: (await firstPicture(page)) ?? 0 };
}

test("without a TURN server, a viewer whose network blocks UDP watches by LL-HLS within two seconds, and the page names the block", async () => {
  const { weir, address } = await startWeir();
  await using broadcast = await startBroadcast(weir);
  await broadcast.untilSegments(1);
  const { page, firstPictureMs } = await measured(playerPage(address, broadcast.stream.playbackId));
  expect(await isByWebrtc(page)).toBe(false);
  await page.getByText("This network blocks real time (UDP)").waitFor();
  expect(firstPictureMs).toBeLessThan(WITHIN_MS);
});
