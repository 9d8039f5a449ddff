import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startBroadcast } from "./support/broadcast.ts";
import { startChromiumThrough } from "./support/chromium.ts";
import { BlockedNetwork, Coturn, documentedBlock, SECRET } from "./support/coturn.ts";
import { CustomerSite } from "./support/customer-site.ts";
import { freePort, WeirProcess } from "./support/weir-process.ts";

/** Of the first picture, from the moment at which the page was opened. */
const WITHIN_MS = 2000;

/** Keeps what the page connects by, and when the player had its first picture. */
const WATCHED = `
  <script>
    const peers = [];
    window.RTCPeerConnection = class extends RTCPeerConnection {
      constructor(configuration) {
        super(configuration);
        peers.push(this);
      }
    };
    let firstPictureMs = null;
    const kindOfPath = async () => {
      const stats = new Map((await peers.at(-1)?.getStats()) ?? []);
      const pair = [...stats.values()].find(({ type, nominated, state }) => type === "candidate-pair" && nominated && state === "succeeded");
      const { candidateType, relayProtocol } = stats.get(pair?.localCandidateId) ?? {};
      return [candidateType, relayProtocol].join(" ");
    };
  </script>`;

const playerPage = (server: string, playbackId: string): string => `<!doctype html>${WATCHED}
  <script type="module" src="${server}/player.js"></script>
  <weir-player playback-id="${playbackId}" label="Behind a firewall" low-latency></weir-player>
  <script>
    const player = document.querySelector("weir-player");
    player.addEventListener("loadeddata", () => (firstPictureMs ??= performance.now()));
  </script>`;

const broadcastPage = (server: string, streamKey: string): string => `<!doctype html>${WATCHED}
  <script type="module" src="${server}/broadcast.js"></script>
  <weir-broadcast stream-key="${streamKey}"></weir-broadcast>`;

const closing = new AsyncDisposableStack();
let network: BlockedNetwork;
let webrtcPort: number;
let folder: string;
let site: CustomerSite;
/** In a network that lets no UDP out. */
let browser: Browser;

beforeAll(async () => {
  try {
    const program = "turnserver";
    execFileSync(program, ["--version"], { stdio: "ignore" });
  } catch {
    throw new Error("there is no coturn: apt-get install coturn nftables, and run as root");
  }
  network = closing.use(new BlockedNetwork());
  webrtcPort = await freePort();
  network.guardTurn(documentedBlock("nft", webrtcPort));
  folder = await mkdtemp(join(tmpdir(), "weir-blocked-"));
  closing.defer(() => rm(folder, { recursive: true }));
  site = closing.use(await CustomerSite.open(folder, network.weirAddress));
  // A page may use a camera where it came by HTTPS.
  const flags = [`--unsafely-treat-insecure-origin-as-secure=${site.origin}`];
  browser = await startChromiumThrough(network.ofViewer, flags);
  closing.defer(() => browser.close());
});
afterAll(() => closing.disposeAsync());

/** A server that viewers reach, and its address for them. */
async function startWeir(env: Readonly<Record<string, string>> = {}) {
  const weir = await WeirProcess.start({
    env: {
      WEIR_HOST: "0.0.0.0",
      WEIR_WEBRTC_PORT: String(webrtcPort),
      WEIR_WEBRTC_ADDRESS: network.weirAddress,
      ...env,
    },
  });
  onTestFinished(() => weir[Symbol.asyncDispose]());
  return { weir, address: `http://${network.weirAddress}:${weir.httpPort}` };
}

const startWithTurn = () => startWeir({ WEIR_TURN_URLS: network.turnUrlOfViewer, WEIR_TURN_SECRET: SECRET });

/** A page of another origin than the server's, in a browser that has nothing of it yet. */
async function openPage(html: string): Promise<Page> {
  await writeFile(join(folder, "index.html"), html);
  const context = await browser.newContext({ permissions: [] });
  const page = await context.newPage();
  await page.goto(site.origin);
  return page;
}

const firstPicture = (page: Page): Promise<number | null> => page.evaluate("firstPictureMs");
const path = (page: Page): Promise<string> => page.evaluate("kindOfPath()");
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

test("a viewer whose network blocks UDP watches in real time by the documented coturn over TCP, within two seconds", async () => {
  await using _coturn = await Coturn.start(network, documentedBlock("conf", webrtcPort));
  const { weir, address } = await startWithTurn();
  await using broadcast = await startBroadcast(weir);
  await broadcast.untilSegments(1);
  const { page, firstPictureMs } = await measured(playerPage(address, broadcast.stream.playbackId));
  expect([await isByWebrtc(page), await path(page)]).toEqual([true, "relay tcp"]);
  expect(firstPictureMs).toBeLessThan(WITHIN_MS);
});

test("without a TURN server such a viewer watches by LL-HLS within two seconds, and the page names the block", async () => {
  const { weir, address } = await startWeir();
  await using broadcast = await startBroadcast(weir);
  await broadcast.untilSegments(1);
  const { page, firstPictureMs } = await measured(playerPage(address, broadcast.stream.playbackId));
  expect(await isByWebrtc(page)).toBe(false);
  await page.getByText("This network blocks real time (UDP)").waitFor();
  expect(firstPictureMs).toBeLessThan(WITHIN_MS);
});

test("a broadcaster whose network blocks UDP publishes by the TURN server", async () => {
  await using _coturn = await Coturn.start(network, documentedBlock("conf", webrtcPort));
  const { weir, address } = await startWithTurn();
  const stream = await weir.client.streams.create({ name: "Behind a firewall", profiles: [] });
  const page = await openPage(broadcastPage(address, stream.streamKey ?? ""));
  onTestFinished(() => page.context().close());
  await page.getByRole("button", { name: "Go live" }).click();
  const status = page.getByRole("status");
  await status.getByText("Live", { exact: true }).waitFor();
  expect(await path(page)).toBe("relay tcp");
  await expect.poll(async () => (await weir.client.streams.get(stream.id)).status.state).toBe("live");
});
