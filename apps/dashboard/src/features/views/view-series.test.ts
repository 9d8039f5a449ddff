import { expect, test } from "vitest";
import { beginOf, viewSeries } from "./view-series.ts";

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const at = (hour: number, viewCount: number) => ({
  timestamp: Date.UTC(2026, 10, 21, hour),
  viewCount,
  playtimeMins: viewCount * 2,
  errorRate: 0,
});

test("a day is its present hour and the 23 before it", () => {
  expect(beginOf("day", NOW)).toBe(Date.UTC(2026, 10, 20, 10));
  expect(viewSeries("day", NOW, []).times.at(-1)).toBe(Date.UTC(2026, 10, 21, 9));
});

test("a month is today and the 29 days before it", () => {
  expect(beginOf("month", NOW)).toBe(Date.UTC(2026, 9, 23));
  expect(viewSeries("month", NOW, []).times).toHaveLength(30);
});

test("hours that are not told are hours without viewers", () => {
  const { values } = viewSeries("day", NOW, [at(7, 3), at(9, 1)]);
  expect(values.slice(-4)).toEqual([0, 3, 0, 1]);
});
