import { expect, test } from "vitest";
import { shareOfScale } from "./level-meter.ts";

test("the meter is full at full scale, half as loud is a tenth less, and what is quieter than its scale is none", () => {
  expect(shareOfScale(1)).toBe(1);
  expect(shareOfScale(0.5)).toBeCloseTo(0.9, 2);
  expect([shareOfScale(0.0001), shareOfScale(0)]).toEqual([0, 0]);
});
