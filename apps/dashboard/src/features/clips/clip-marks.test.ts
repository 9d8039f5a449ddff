import { expect, test } from "vitest";
import { lengthOf, markMoved, marksAfter, momentText, NO_MARKS, stepOf } from "./clip-marks.ts";

test("I and O set the start and the end where the video stands", () => {
  const marks = marksAfter("i", NO_MARKS, 1_000) ?? NO_MARKS;
  expect(marksAfter("o", marks, 3_500)).toEqual({ start: 1_000, end: 3_500 });
  expect(marksAfter("x", marks, 3_500)).toBeNull();
});

test("arrows step by a frame, with Shift by a second", () => {
  expect([stepOf("ArrowLeft", false, 0.04), stepOf("ArrowRight", true, 0.04), stepOf("a", false, 0.04)]).toEqual([
    ...[-0.04, 1, null],
  ]);
});

test("a clip has a length once its end is after its start", () => {
  expect([lengthOf(NO_MARKS), lengthOf({ start: 2, end: 2 }), lengthOf({ start: 2, end: 5 })]).toEqual([null, null, 3]);
});

test("a mark that is moved stays within the video", () => {
  const marks = { start: 1_000, end: 2_000 };
  expect(markMoved(marks, "start", 1_033.4, 9_000)).toEqual({ start: 1_033, end: 2_000 });
  expect(markMoved(marks, "start", -5, 9_000).start).toBe(0);
  expect(markMoved(marks, "end", 9_999, 9_000).end).toBe(9_000);
});

test("a moment reads to the millisecond", () => {
  expect([0, 65_250, 3_600_007].map(momentText)).toEqual(["00:00:00.000", "00:01:05.250", "01:00:00.007"]);
});
