import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { listedRenditions, ROUNDING_SECONDS, readSegment, untilListed } from "./support/live-renditions.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const RUNGS = ["v0", "v1"];

const arena = openArena();
/** Half the usual frame rate, so that the test works on a machine with little CPU for transcoding. */
const options = { frameRate: 15, stream: { profiles: SMALL_LADDER } };

test.each([0, 2])("rungs have the source's boundaries, each an IDR picture, with %i B-frames", async (bFrames) => {
  await using broadcast = await startBroadcast(arena.weir, { ...options, bFrames });
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  const rungs = await Promise.all(RUNGS.map((name) => untilListed(broadcast.hlsUrl, name, 3)));
  // Requested after its rungs, because it is ahead of them.
  const source = await untilListed(broadcast.hlsUrl, "source", 3);
  for (const listed of rungs.flat()) {
    const of = source.find(({ msn }) => msn === listed.msn) ?? expect.fail(`the source has no segment ${listed.msn}`);
    const [read, whole] = await Promise.all([readSegment(listed), readSegment(of)]);
    expect([read.firstTicks, read.frames, read.beginsWithIdr]).toEqual([whole.firstTicks, whole.frames, true]);
    expect(listed.dateMs).toBe(of.dateMs);
    expect(Math.abs(listed.seconds - of.seconds)).toBeLessThan(ROUNDING_SECONDS);
  }
});

test("a player switches down and up again without interruption", async () => {
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
  // Shorter than a segment: what is missing at a switch is one, or more.
  expect(state.longestStallMs).toBeLessThan(2000);
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
  await player.until("a picture", ({ width }) => width > 0);
  await player.replayWith(320);
  const { width, fatal } = await player.until("its end", ({ hasEnded }) => hasEnded);
  expect([width, fatal]).toEqual([320, null]);
  await player.close();
});
