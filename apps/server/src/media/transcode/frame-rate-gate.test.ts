import { expect, test } from "vitest";
import { FrameRateGate } from "./frame-rate-gate.ts";

const at = (rate: number, frames: number): number[] =>
  Array.from({ length: frames }, (_, i) => Math.round((i * 90_000) / rate));

function run(gate: FrameRateGate, times: readonly number[]): { pts: number; isRepeat: boolean }[] {
  return times.flatMap((pts) => [
    ...gate.repeatsBefore(pts, Infinity).map((repeat) => ({ pts: repeat, isRepeat: true })),
    ...(gate.passes(pts, false) ? [{ pts, isRepeat: false }] : []),
  ]);
}

test("60 frames a second come to 30 with the times of every second frame", () => {
  const frames = run(new FrameRateGate({ num: 30, den: 1 }), at(60, 120));
  expect(frames.map(({ pts }) => pts)).toEqual(at(30, 60));
  expect(frames.some(({ isRepeat }) => isRepeat)).toBe(false);
});

test("a source at the asked rate, with times rounded to milliseconds, loses and repeats nothing", () => {
  const times = at(30_000 / 1001, 300).map((pts) => Math.round(pts / 90) * 90);
  const frames = run(new FrameRateGate({ num: 30_000, den: 1001 }), times);
  expect(frames).toEqual(times.map((pts) => ({ pts, isRepeat: false })));
});

test("10 frames a second come to 30 by two repeats of each picture", () => {
  const frames = run(new FrameRateGate({ num: 30, den: 1 }), at(10, 4));
  expect(frames.map(({ pts }) => pts)).toEqual(at(30, 10));
  expect(frames.filter(({ isRepeat }) => !isRepeat).map(({ pts }) => pts)).toEqual(at(10, 4));
});

test("a hole of more than a second stays a hole", () => {
  const frames = run(new FrameRateGate({ num: 30, den: 1 }), [0, 3000, 3000 + 180_000]);
  expect(frames.map(({ pts }) => pts)).toEqual([0, 3000, 183_000]);
});

test("a frame that begins a segment passes whatever slot it is in, and nothing is repeated behind the cut", () => {
  const gate = new FrameRateGate({ num: 30, den: 1 });
  gate.passes(0, true);
  expect(gate.passes(1000, false)).toBe(false);
  expect(gate.passes(1200, true)).toBe(true);
  expect(gate.repeatsBefore(18_000, 9000)).toEqual([3000, 6000]);
});
