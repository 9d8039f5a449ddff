import { expect, test } from "vitest";
import type { StoredSegment } from "../../ports/index.ts";
import { withMissing } from "./missing-segments.ts";

const TIMESCALE = 100;

function segment(msn: number, startTicks: number): StoredSegment {
  return {
    ...{ msn, epoch: 7, startTicks, durationTicks: 200, programDateTimeMs: startTicks * 10, discontinuity: false },
    ...{ gap: false, init: "init-a.mp4", span: "1.m4s", offset: 0, length: 9 },
  };
}

const listed = (...segments: readonly StoredSegment[]) => [...withMissing(segments, TIMESCALE)];

test("what was never recorded is listed as gaps, which end where the next segment begins", () => {
  const list = listed(segment(5, 1_000), segment(9, 1_700));
  expect(list.map(({ msn, gap }) => [msn, gap])).toEqual([
    [5, false],
    ...[6, 7, 8].map((msn) => [msn, true]),
    [9, false],
  ]);
  expect(list.some(({ discontinuity }) => discontinuity)).toBe(false);
  for (const [nth, { startTicks, durationTicks }] of list.entries())
    if (nth < 4) expect(startTicks + durationTicks).toBe(list[nth + 1]?.startTicks);
  expect(list.map(({ programDateTimeMs }) => programDateTimeMs)).toEqual([10_000, 12_000, 13_667, 15_333, 17_000]);
});

test("neighbours stay as they are; over a day of numbers there is a discontinuity", () => {
  const [first, second, far] = [segment(5, 1_000), segment(6, 1_200), segment(43_206, 1_400)];
  expect(listed(first, second, far)).toEqual([first, second, { ...far, discontinuity: true }]);
});
