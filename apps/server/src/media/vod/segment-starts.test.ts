import { expect, test } from "vitest";
import { CannotCopy } from "./refusal.ts";
import { SegmentStarts } from "./segment-starts.ts";

const SECOND = 90_000;

/** Keyframes every `gopSeconds`, one picture per second. */
function startsOf(seconds: number, isCopied: boolean, gopSeconds: number, length: number, bytes = 0): string[] {
  const starts = new SegmentStarts(seconds, isCopied);
  for (let at = 0; at < length; at++) starts.take(at * SECOND, at % gopSeconds === 0, bytes);
  return starts.all.map(({ ticks, isKeyframe }) => `${ticks / SECOND}${isKeyframe ? "" : " inside"}`);
}

test("a copied segment ends at the first keyframe after its target duration", () => {
  expect(startsOf(4, true, 3, 14)).toEqual(["0", "6", "12"]);
});

test("long segments of short GOPs are copied; GOPs of more than 12 seconds are not", () => {
  expect(startsOf(30, true, 2, 62)).toEqual(["0", "30", "60"]);
  expect(() => startsOf(4, true, 14, 20)).toThrow(CannotCopy);
});

test("re-encoded segments also start between keyframes that are far apart", () => {
  expect(startsOf(4, false, 10, 21)).toEqual(["0", "4 inside", "10", "14 inside", "20"]);
});

test("a large segment ends at the next keyframe", () => {
  expect(startsOf(4, true, 1, 3, 10_000_000)).toEqual(["0", "1", "2"]);
});

test("audio that continues after the video gets its own segments", () => {
  const starts = new SegmentStarts(4, true);
  starts.take(0, true);
  starts.fill(9 * SECOND);
  expect(starts.all.map(({ msn, ticks }) => [msn, ticks / SECOND])).toEqual([
    [1, 0],
    [2, 4],
    [3, 8],
  ]);
});
