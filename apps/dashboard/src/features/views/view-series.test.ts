import { expect, test } from "vitest";
import { beginOf, stepSeries } from "./view-series.ts";

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const at = (hour: number, value?: number) => [Date.UTC(2026, 10, 21, hour), value] as const;

test("a day is its present hour and the 23 before it", () => {
  expect(beginOf("day", NOW)).toBe(Date.UTC(2026, 10, 20, 10));
  expect(stepSeries("day", NOW, []).times.at(-1)).toBe(Date.UTC(2026, 10, 21, 9));
});

test("a month is today and the 29 days before it", () => {
  expect(beginOf("month", NOW)).toBe(Date.UTC(2026, 9, 23));
  expect(stepSeries("month", NOW, []).times).toHaveLength(30);
});

test("hours that the server does not name had no viewers", () => {
  const { values } = stepSeries("day", NOW, [at(7, 3), at(9, 1)]);
  expect(values.slice(-4)).toEqual([0, 3, 0, 1]);
});

test("a measure that no player reported is a gap, not zero", () => {
  const { values } = stepSeries("day", NOW, [at(7, 340), at(8, undefined)], null);
  expect(values.slice(-4)).toEqual([null, 340, null, null]);
});
