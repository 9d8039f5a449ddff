import { expect, test } from "vitest";
import { lengthOf, marksAfter, NO_MARKS, stepOf } from "./clip-marks.ts";

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
