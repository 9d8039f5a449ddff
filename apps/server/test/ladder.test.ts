import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import {
  type ListedSegment,
  listedRenditions,
  listedSegments,
  type ReadSegment,
  ROUNDING_SECONDS,
  readSegment,
  renditionUrl,
} from "./support/live-renditions.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const RUNGS = ["v0", "v1"];

const arena = shareArena();
/** Half of the usual frames: what is shown here is shown on a machine with little time for transcoding, too. */
const options = { frameRate: 15, stream: { profiles: SMALL_LADDER } };

test.each([0, 2])("rungs have the source's boundaries, each an IDR picture, with %i B-frames", async (bFrames) => {
  await using broadcast = await startBroadcast(arena.weir, { ...options, bFrames });
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  await broadcast.untilSegments(4);
  const source = await wholeSegments(broadcast, "source");
  for (const name of RUNGS) {
    const rung = await wholeSegments(broadcast, name);
    expect(rung.length).toBeGreaterThanOrEqual(3);
    for (const { listed, read } of rung) {
      const of = source.find((segment) => segment.listed.msn === listed.msn) ?? expect.fail(`no source ${listed.msn}`);
      expect(read.firstTicks).toBe(of.read.firstTicks);
      expect(read.frames).toBe(of.read.frames);
      expect(read.beginsWithIdr).toBe(true);
      expect(listed.dateMs).toBe(of.listed.dateMs);
      expect(Math.abs(listed.seconds - of.listed.seconds)).toBeLessThan(ROUNDING_SECONDS);
    }
  }
});

test("a player is led down and up again without a break", async () => {
  await using broadcast = await startBroadcast(arena.weir, { ...options, bFrames: 2 });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(45);
  const joined = await player.state();
  for (const width of [320, 640, 426, 640]) {
    await player.switchTo(width);
    await player.untilMoving(15);
  }
  const state = await player.state();
  expect(state.fatal).toBe(null);
  expect(state.audioBytes).toBeGreaterThan(joined.audioBytes);
  expect(state.longestStallMs).toBeLessThan(1000);
  await player.close();
});

test("a recording has the rungs as well, and a player switches between them", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    ...options,
    stream: { record: true, profiles: SMALL_LADDER },
  });
  await broadcast.untilSegments(3);
  await broadcast.publisher.stop();
  const { recordingUrl } = await broadcast.recorded();
  const listed = await listedRenditions(recordingUrl);
  expect(listed.map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  const player = await arena.browser.playHls(recordingUrl);
  await player.untilMoving(1);
  await player.switchTo(320);
  await player.untilMoving(2);
  expect((await player.state()).fatal).toBe(null);
  await player.close();
});

test.each(["hevc", "av1"] as const)("a source of %s gets rungs of H.264, which play", async (codec) => {
  await using broadcast = await startBroadcast(arena.weir, { ...options, codec, width: 480, height: 270 });
  await broadcast.untilSegments(2);
  expect((await wholeSegments(broadcast, "v0")).every(({ read }) => read.beginsWithIdr)).toBe(true);
  const player = await arena.browser.playHls(await renditionUrl(broadcast.hlsUrl, "v1"));
  expect((await player.untilMoving(15)).width).toBe(320);
  await player.close();
});

test("a source that changes its size keeps its rungs, and who watches one goes on", async () => {
  await using broadcast = await startBroadcast(arena.weir, options);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(15);
  await player.switchTo(320);
  await broadcast.publish({ width: 854, height: 480, frameRate: 25 });
  await player.untilMoving(100);
  const state = await player.switchTo(854);
  expect(state.fatal).toBe(null);
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  await player.close();
});

async function wholeSegments(
  broadcast: Broadcast,
  name: string,
): Promise<{ readonly listed: ListedSegment; readonly read: ReadSegment }[]> {
  const segments = await listedSegments(await renditionUrl(broadcast.hlsUrl, name));
  return Promise.all(segments.map(async (listed) => ({ listed, read: await readSegment(listed) })));
}
