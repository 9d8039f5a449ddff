import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";
import { recordNumbered } from "./support/numbered-recording-rig.ts";
import { picturesOf, randomSeeks, wrongSeeks } from "./support/seek-check.ts";

const SEEKS = 20;
const arena = shareArena();

test("random seeks in the MP4 of a source with jitter and late pictures show the right picture in FFmpeg", async () => {
  const { mp4Url } = await recordNumbered(arena.weir, { seconds: 8, burstMs: 1000 / 3, jitterMs: 3, bFrames: 2 });
  const pictures = await picturesOf(mp4Url);
  expect(pictures.length).toBeGreaterThan(7 * 30);
  await using file = await AvFile.open(mp4Url);
  const seeks = randomSeeks(pictures, SEEKS);
  expect(await wrongSeeks(seeks, (seconds) => file.numberAt(seconds), "next")).toEqual([]);
});
