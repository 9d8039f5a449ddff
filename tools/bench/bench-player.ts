import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
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
];
const FIRST_PICTURE_WITHIN_MS = 15_000;
const SETTLE_SECONDS = 20;
const SAMPLE_MS = 250;

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

/** Plays a running stream with hls.js in Chromium: time to first picture, then latency after 20 s. */
export async function measurePlayer(server: BenchServer, clip: Clip): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("player");
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    await wait(5000);
    const { firstPictureMs, behind, stalls } = await watch(hlsUrl, SETTLE_SECONDS + 10);
    return [
      { what: "hls.js, moving picture after it was opened", value: firstPictureMs, unit: "ms" },
      { what: "hls.js, picture behind its arrival after 20 s, median", value: median(behind), unit: "ms" },
      { what: "hls.js, stalls in 30 s", value: stalls, unit: "" },
    ];
  } finally {
    await sender.stop();
  }
}

/** Plays a live stream for `seconds`, which must exceed the settling time. */
export async function watch(hlsUrl: string, seconds: number): Promise<Watched> {
  const { executablePath, env } = await unpackChromium();
  const browser = await chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, ...env } });
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
