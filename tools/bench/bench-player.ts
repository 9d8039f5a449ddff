import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { unpackChromium } from "../../apps/server/test/support/chromium.ts";
import type { BenchServer } from "./bench-server.ts";
import { median, type Row } from "./report.ts";

const HLS_JS = createRequire(new URL("../../apps/server/package.json", import.meta.url)).resolve(
  "hls.js/dist/hls.min.js",
);
const PAGE = fileURLToPath(new URL("../../apps/server/test/support/player-page.js", import.meta.url));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--mute-audio",
  "--autoplay-policy=no-user-gesture-required",
  "--allow-loopback-in-peer-connection",
];
const FIRST_PICTURE_WITHIN_MS = 15_000;
const SETTLE_SECONDS = 20;
const SAMPLE_MS = 250;
const PAGES = 9;

interface PlayerState {
  readonly isPlaying: boolean;
  readonly frames: number;
  readonly playingDate: number | null;
  readonly stalls: number;
  readonly fatal: string | null;
}

interface Watched {
  readonly firstPictureMs: number;
  /** Milliseconds from wall clock time to the picture shown, one value per sample after settling. */
  readonly behind: readonly number[];
  readonly stalls: number;
}

/**
 * Plays a running stream in Chromium: with hls.js, time to first picture and latency after 20 s; with `<weir-player>` on pages of another origin, times
 * from the request for its script.
 */
export async function measurePlayer(server: BenchServer, clip: Clip): Promise<Row[]> {
  const { publishUrl, hlsUrl, playbackId } = await server.createStream("player");
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    await wait(5000);
    const element = await measureElement(server.url, playbackId);
    const { firstPictureMs, behind, stalls } = await watch(hlsUrl, SETTLE_SECONDS + 10);
    return [
      ...element,
      { what: "hls.js, moving picture after it was opened", value: firstPictureMs, unit: "ms" },
      { what: "hls.js, picture behind its arrival after 20 s, median", value: median(behind), unit: "ms" },
      { what: "hls.js, stalls in 30 s", value: stalls, unit: "" },
    ];
  } finally {
    await sender.stop();
  }
}

/** What happened on one page, in ms after the player's script was asked for. */
type Moments = Readonly<Record<string, number>>;

/** Pages without anything in the browser's cache, one after the other; the first one warms the server. */
async function measureElement(url: string, playbackId: string): Promise<Row[]> {
  const site = createServer(({ url: path }, response) => {
    const attributes = path === "/low" ? "low-latency" : "";
    response.setHeader("content-type", "text/html").end(`<!doctype html>
      <script type="module" src="${url}/player.js"></script>
      <weir-player playback-id="${playbackId}" ${attributes}></weir-player>
      <script>
        const player = document.querySelector("weir-player");
        let picture = null;
        player.addEventListener("loadeddata", () => (picture ??= performance.now()));
      </script>`);
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  const browser = await openBrowser();
  try {
    const rows: Row[] = [];
    for (const way of ["HLS", "low"]) {
      const seen: Moments[] = [];
      const page = `http://127.0.0.1:${(site.address() as AddressInfo).port}/${way}`;
      for (let each = 0; each <= PAGES; each++) seen.push(await momentsOf(browser, page));
      for (const what of Object.keys(seen[0] ?? {})) {
        const values = seen.slice(1).flatMap((moments) => moments[what] ?? []);
        rows.push({
          what: `<weir-player>, ${way === "low" ? "low latency" : way}: ${what}`,
          value: median(values),
          unit: "ms",
        });
      }
    }
    return rows;
  } finally {
    await browser.close();
    site.close();
  }
}

async function momentsOf(browser: Browser, address: string): Promise<Moments> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForFunction("picture !== null", null, { timeout: FIRST_PICTURE_WITHIN_MS });
    return await page.evaluate<Moments>(`(() => {
      const all = performance.getEntriesByType("resource");
      const [script] = all;
      const first = (part) => all.find(({ name }) => part.test(name));
      const moments = {
        "script loaded": script.responseEnd,
        "state known": first(/\\/api\\/playback\\//)?.responseEnd,
        "hls.js loaded": first(/player-hls/)?.responseEnd,
        "playlist asked for": first(/index\\.m3u8/)?.startTime,
        "playlist there": first(/index\\.m3u8/)?.responseEnd,
        "media asked for": first(/\\.m4s|init/)?.startTime,
        "media there": first(/\\.m4s/)?.responseEnd,
        "WebRTC answered": first(/\\/webrtc\\//)?.responseEnd,
        "first picture": picture,
      };
      return Object.fromEntries(Object.entries(moments).filter(([, at]) => at !== undefined).map(([what, at]) => [what, at - script.startTime]));
    })()`);
  } finally {
    await context.close();
  }
}

async function openBrowser(): Promise<Browser> {
  const { executablePath, env } = await unpackChromium();
  return chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, ...env } });
}

/** Plays a live stream for `seconds`, which must exceed the settling time. */
export async function watch(hlsUrl: string, seconds: number): Promise<Watched> {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.setContent("<video muted playsinline></video>");
    await page.addScriptTag({ path: HLS_JS });
    await page.addScriptTag({ path: PAGE });
    const state = () => page.evaluate<PlayerState>("player.state()");
    const openedAt = performance.now();
    await page.evaluate(`player.playHls(${JSON.stringify(hlsUrl)})`);
    let seen = await state();
    while (!(seen.isPlaying && seen.frames > 1)) {
      if (seen.fatal || performance.now() - openedAt > FIRST_PICTURE_WITHIN_MS)
        throw new Error(`no picture: ${seen.fatal}`);
      await wait(10);
      seen = await state();
    }
    const firstPictureMs = performance.now() - openedAt;
    await wait(SETTLE_SECONDS * 1000);
    const behind: number[] = [];
    while (performance.now() - openedAt < seconds * 1000) {
      seen = await state();
      if (seen.playingDate !== null) behind.push(Date.now() - seen.playingDate);
      await wait(SAMPLE_MS);
    }
    return { firstPictureMs, behind, stalls: seen.stalls };
  } finally {
    await browser.close();
  }
}
