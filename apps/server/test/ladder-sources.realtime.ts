import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { listedRenditions, readSegment, renditionUrl, untilListed } from "./support/live-renditions.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const arena = openArena();
/** Half the usual frame rate, so that the test works on a machine with little CPU for transcoding. */
const options = { frameRate: 15, stream: { profiles: SMALL_LADDER } };

test.each(["hevc", "av1"] as const)("a %s source gets H.264 rungs, which play", async (codec) => {
  await using broadcast = await startBroadcast(arena.weir, { ...options, codec, width: 480, height: 270 });
  for (const segment of await untilListed(broadcast.hlsUrl, "v0", 2))
    expect((await readSegment(segment)).beginsWithIdr).toBe(true);
  const player = await arena.browser.playHls(await renditionUrl(broadcast.hlsUrl, "v1"));
  expect((await player.untilMoving(15)).width).toBe(320);
  await player.close();
});

test("a source that changes its size keeps its rungs, and viewers of a rung continue", async () => {
  await using broadcast = await startBroadcast(arena.weir, options);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(15);
  await player.switchTo(320);
  await broadcast.publish({ width: 854, height: 480, frameRate: 25 });
  await player.untilMoving(100);
  const state = await player.switchTo(854);
  expect(state.fatal).toBe(null);
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", "v0", "v1"]);
  await player.close();
});
