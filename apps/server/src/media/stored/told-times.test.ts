import { expect, test } from "vitest";
import { ToldTimes } from "./told-times.ts";

const START = Date.UTC(2030, 0, 1);

test("times are told of the first segment, behind a discontinuity, and where clock and durations have come apart", () => {
  const times = new ToldTimes();
  const told = (ms: number, isBreak = false) => times.next(START + ms, 2, isBreak);
  expect(told(0)).toBe(START);
  // A source's clock that is some milliseconds off in each segment, as all are.
  expect([1_995, 3_990, 5_992, 8_003].map((ms) => told(ms))).toEqual([null, null, null, null]);
  // A reconnect after 20 s.
  expect(told(30_000)).toBe(START + 30_000);
  expect(told(32_010)).toBeNull();
  expect(told(34_000, true)).toBe(START + 34_000);
  expect(told(36_000)).toBeNull();
});

test("small steps add up until they are told", () => {
  const times = new ToldTimes();
  const told = Array.from({ length: 60 }, (_, n) => times.next(START + n * 1_980, 2, false));
  expect(told.flatMap((ms, n) => (ms === null ? [] : n))).toEqual([0, 26, 52]);
});

test("a file without times tells none", () => {
  const times = new ToldTimes();
  expect([times.next(0, 2, false), times.next(0, 2, true)]).toEqual([null, null]);
});
