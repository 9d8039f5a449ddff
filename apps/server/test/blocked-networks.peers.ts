import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { startChromiumThrough } from "./support/chromium.ts";
import { BlockedNetwork, Coturn, documentedBlock, SECRET } from "./support/coturn.ts";
import { untilListed } from "./support/live-renditions.ts";
import { figure } from "./support/nodes.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";

/** Of the first picture, from the moment at which the page was opened. */
const WITHIN_MS = 2000;

/** Browsers allow cameras here without HTTPS. */
const PAGE = "http://localhost/";

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
/** In a network that lets no UDP out. */
let browser: Browser;

beforeAll(async () => {
  network = closing.use(new BlockedNetwork());
  browser = await startChromiumThrough(network.ofViewer);
  closing.defer(() => browser.close());
});
afterAll(() => closing.disposeAsync());

/** A server that viewers reach, and its address for them. */
async function startWeir(more: Readonly<Record<string, string>> = {}) {
  const env = { WEIR_HOST: "0.0.0.0", WEIR_WEBRTC_ADDRESS: network.weirAddress, ...more };
  const weir = await WeirProcess.start({ env });
  onTestFinished(() => weir[Symbol.asyncDispose]());
  return { weir, address: `http://${network.weirAddress}:${weir.httpPort}` };
}

/** A server with a TURN server beside it, both as the documents set them up. */
async function startWeirAndTurn() {
  const webrtcPort = await freePort();
  const coturn = await Coturn.start(network, documentedBlock("conf", webrtcPort));
  onTestFinished(() => coturn[Symbol.asyncDispose]());
  network.guardTurn(documentedBlock("nft", webrtcPort));
  return startWeir({
    WEIR_WEBRTC_PORT: String(webrtcPort),
    WEIR_TURN_URLS: network.turnUrlOfViewer,
    WEIR_TURN_SECRET: SECRET,
  });
}

/** A page of another origin than the server's, in a browser that has nothing of it yet. */
async function openPage(html: string, permissions: readonly string[] = []): Promise<Page> {
  const context = await browser.newContext({ permissions: ["local-network-access", ...permissions] });
  const page = await context.newPage();
  await page.route(PAGE, (route) => route.fulfill({ contentType: "text/html", body: html }));
  await page.goto(PAGE);
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

test("through coturn over TCP, the same viewer watches by WebRTC within two seconds", async () => {
  const { weir, address } = await startWeirAndTurn();
  await using broadcast = await startBroadcast(weir);
  await broadcast.untilSegments(1);
  const { page, firstPictureMs } = await measured(playerPage(address, broadcast.stream.playbackId));
  expect(await isByWebrtc(page)).toBe(true);
  expect(firstPictureMs).toBeLessThan(WITHIN_MS);
  figure("first picture by WebRTC through coturn over TCP, in ms", firstPictureMs);
  const at = (): Promise<number> => page.evaluate("player.video.currentTime");
  const before = await at();
  // Consent is checked every few seconds, with the same tiebreaker.
  await expect.poll(at, { timeout: 30_000 }).toBeGreaterThan(before + 12);
  expect(await isByWebrtc(page)).toBe(true);
});

test("through coturn over TCP, a camera behind the same network is on air", async () => {
  const { weir, address } = await startWeirAndTurn();
  const { streamKey = "", playbackId } = await weir.client.streams.create({ name: "blocked", profiles: [] });
  const page = await openPage(
    `<!doctype html>
    <script type="module" src="${address}/broadcast.js"></script>
    <weir-broadcast stream-key="${streamKey}"></weir-broadcast>`,
    ["camera", "microphone"],
  );
  onTestFinished(() => page.context().close());
  await page.getByRole("button", { name: "Go live" }).click();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await untilListed(weir.hlsUrl(playbackId), "source", 3);
});
