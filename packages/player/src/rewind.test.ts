import { expect, test } from "vitest";
import { dateOf, firstMoment, positionOf, rewindAddress, rewindWindowOf } from "./rewind.ts";

test("a playlist says from when on, and how far, viewers can go back; any other says nothing", () => {
  const data = (VALUE: string) => ({ "weir.dvr": { VALUE } });
  expect(rewindWindowOf(data("since=1700000000000,seconds=3600"))).toEqual({
    sinceMs: 1_700_000_000_000,
    seconds: 3600,
  });
  for (const none of [null, undefined, {}, data(""), data("since=,seconds="), { other: { VALUE: "x" } }])
    expect(rewindWindowOf(none)).toBeNull();
});

test("the first moment is that of the session until its window is full, and never after the edge", () => {
  const window = { sinceMs: 10_000, seconds: 60 };
  expect(firstMoment(window, 50_000)).toBe(10_000);
  expect(firstMoment(window, 100_000)).toBe(40_000);
  expect(firstMoment(window, 5_000)).toBe(5_000);
});

test("the address to go back by keeps the credential", () => {
  expect(rewindAddress("/hls/a/index.m3u8")).toBe("/hls/a/index.m3u8?dvr=1");
  expect(rewindAddress("/hls/a/index.m3u8?jwt=x")).toBe("/hls/a/index.m3u8?jwt=x&dvr=1");
});

test("moments and positions find each other across a stretch without a source", () => {
  const segments = [
    { start: 0, duration: 2, programDateTime: 100_000 },
    { start: 2, duration: 2, programDateTime: 102_000 },
    // The source was away for 16 s, which take no time in the list.
    { start: 4, duration: 2, programDateTime: 120_000 },
  ];
  expect([99_000, 101_000, 103_500, 110_000, 121_000].map((date) => positionOf(segments, date))).toEqual([
    0, 1, 3.5, 4, 5,
  ]);
  expect([0, 3.5, 5].map((position) => dateOf(segments, position))).toEqual([100_000, 103_500, 121_000]);
  expect([positionOf([], 1), dateOf(segments, -1)]).toEqual([null, null]);
});
