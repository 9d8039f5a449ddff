import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";
import { type RecordedSession, recordNumbered } from "./support/numbered-recording-rig.ts";
import { exactInChromium, picturesOf, randomSeeks, wrongSeeks } from "./support/seek-check.ts";

const SEEKS = 20;
const B_FRAMES = 2;
const arena = shareArena();

/** Seeks at random in both players. Returns the number of pictures. */
async function seekThrough(url: string, { isClip = false } = {}): Promise<number> {
  const pictures = await picturesOf(url);
  const seeks = randomSeeks(pictures, SEEKS);
  await using file = await AvFile.open(url);
  // A clip's first pictures are encoded anew, without B-frames: FFmpeg takes it for a file without any, and looks for keyframes like Chromium.
  const exactInFfmpeg = isClip ? exactInChromium(seeks, B_FRAMES) : seeks;
  expect(await wrongSeeks(exactInFfmpeg, (seconds) => file.numberAt(seconds), "next")).toEqual([]);
  const page = await arena.browser.openFile(url);
  expect(await wrongSeeks(exactInChromium(seeks, B_FRAMES), (seconds) => page.numberAt(seconds), "shown")).toEqual([]);
  await page.close();
  return pictures.length;
}

let recording: Promise<RecordedSession> | null = null;
/** For both tests, made by the first; again where that failed. */
async function recorded(): Promise<RecordedSession> {
  recording ??= recordNumbered(arena.weir, { seconds: 8, burstMs: 1000 / 3, jitterMs: 3, bFrames: B_FRAMES });
  try {
    return await recording;
  } catch (error) {
    recording = null;
    throw error;
  }
}

test("random seeks in the MP4 of a source with jitter and late pictures show the right picture in FFmpeg and in Chromium", async () => {
  const session = await recorded();
  expect(await seekThrough(session.mp4Url)).toBeGreaterThan(7 * 30);
});

test("and so they do in a clip of such a source", async () => {
  const session = await recorded();
  const { client } = arena.weir;
  const playbackId = session.recordingUrl.split("/").at(-2) ?? "";
  const { asset } = await client.clips.create({ playbackId, startTime: 2_500, endTime: 5_500 });
  const ready = async () => (await client.assets.get(asset.id)).status.phase;
  await expect.poll(ready, { timeout: 60_000 }).toBe("ready");
  const clipUrl = (await client.assets.get(asset.id)).downloadUrl ?? "";
  await seekThrough(clipUrl, { isClip: true });
});
