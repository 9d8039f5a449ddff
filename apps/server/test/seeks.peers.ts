import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { recordNumbered } from "./support/numbered-recording-rig.ts";
import { readNumber } from "./support/picture-number.ts";
import { exactInChromium, picturesOf, randomSeeks, wrongSeeks } from "./support/seek-check.ts";

const SEEKS = Number(process.env.WEIR_TEST_SEEKS ?? 200);
const WIDTH = 320;
const arena = openArena();

/** The first picture that Debian's `ffmpeg -ss` gives. Its own seconds count from a file's first picture, which B-frames put behind zero. */
async function numberByFfmpeg(url: string, seconds: number): Promise<number> {
  const picture = ["-frames:v", "1", "-an", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
  const args = ["-v", "error", "-seek_timestamp", "1", "-ss", String(seconds), "-i", url, ...picture];
  const { stdout } = await promisify(execFile)("ffmpeg", args, { encoding: "buffer", maxBuffer: 2 ** 24 });
  return readNumber((x, y) => stdout[y * WIDTH + x] ?? 0);
}

test.each([
  { situation: "jitter by 3 ms", jitterMs: 3, bFrames: 0 },
  { situation: "jitter by 3 ms, with B-frames", jitterMs: 3, bFrames: 2 },
  { situation: "are rounded to milliseconds", jitterMs: 0, bFrames: 0 },
  { situation: "are rounded to milliseconds, with B-frames", jitterMs: 0, bFrames: 2 },
])(
  `${SEEKS} random seeks in the MP4 of a source whose timestamps $situation show the right picture in ffmpeg and in Chromium`,
  async ({ jitterMs, bFrames }) => {
    const { mp4Url } = await recordNumbered(arena.weir, { seconds: 40, burstMs: 1000 / 3, jitterMs, bFrames });
    const pictures = await picturesOf(mp4Url);
    expect(pictures.length).toBeGreaterThan(39 * 30);
    const seeks = randomSeeks(pictures, SEEKS);
    expect(await wrongSeeks(seeks, (seconds) => numberByFfmpeg(mp4Url, seconds), "next")).toEqual([]);
    const page = await arena.browser.openFile(mp4Url);
    expect(await wrongSeeks(exactInChromium(seeks, bFrames), (seconds) => page.numberAt(seconds), "shown")).toEqual([]);
    await page.close();
  },
  600_000,
);
