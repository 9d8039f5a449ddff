import { expect, test } from "vitest";
import { KeyframeInterval } from "./keyframe-interval.ts";

/** Milliseconds of the IDR pictures among those at `times`, of which `restarts` begin a segment. */
function keyframesOf(seconds: number | null, times: readonly number[], restarts: readonly number[]): number[] {
  const interval = new KeyframeInterval(seconds);
  return times.filter((ms) => interval.isDue(ms * 90, restarts.includes(ms)));
}

const at = (rate: number, seconds: number): number[] =>
  Array.from({ length: rate * seconds }, (_, frame) => Math.round((frame * 1000) / rate));

test.each<[string, number | null, number[], number[], number[]]>([
  ["without an interval segments alone begin with one", null, at(30, 4), [0, 2000], [0, 2000]],
  ["an interval counts from the beginning of each segment", 0.5, at(30, 2), [0, 1200], [0, 500, 1000, 1200, 1700]],
  [
    "times rounded to milliseconds do not put it off by a frame",
    1,
    at(30, 3).map((ms) => ms - (ms > 0 ? 1 : 0)),
    [0],
    [0, 999, 1999],
  ],
  ["an interval longer than a segment adds none", 10, at(10, 4), [0, 2000], [0, 2000]],
  ["a hole in the source brings one, not several", 0.5, [0, 100, 2200, 2300, 2500], [0], [0, 2200, 2500]],
  ["intra makes all of them", 0, at(5, 1), [0], [0, 200, 400, 600, 800]],
])("%s", (_what, seconds, times, restarts, keyframes) => {
  expect(keyframesOf(seconds, times, restarts)).toEqual(keyframes);
});
