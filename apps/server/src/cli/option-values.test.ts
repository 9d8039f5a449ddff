import { expect, test } from "vitest";
import { duration, names, seconds, wholeNumber } from "./option-values.ts";

test("a time is seconds, or minutes and seconds, or hours as well", () => {
  expect(["90", "90s", "1:30", "0:01.5", "1:02:03", "2.5"].map(seconds)).toEqual([90, 90, 90, 1.5, 3723, 2.5]);
  for (const wrong of ["", "-1", "1:2:3:4", "1:5", "soon", "1e3"]) expect(() => seconds(wrong)).toThrow("1:30");
});

test("a duration has a unit", () => {
  expect(["30s", "10m", "2h", "1d"].map(duration)).toEqual([30_000, 600_000, 7_200_000, 86_400_000]);
  for (const wrong of ["10", "0m", "m", "1w", "-1m"]) expect(() => duration(wrong)).toThrow("10m");
});

test("a number is whole and within its bounds", () => {
  expect(wholeNumber(1, 10)("10")).toBe(10);
  for (const wrong of ["0", "11", "1.5", "", "0x1"]) expect(() => wholeNumber(1, 10)(wrong)).toThrow("from 1 to 10");
});

test("names are separated by commas, and none is empty", () => {
  expect(names("a, b")).toEqual(["a", "b"]);
  expect(() => names("a,,b")).toThrow();
});
