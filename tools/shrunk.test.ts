import { expect, test } from "vitest";
import { shrunk } from "./shrunk.ts";

const NUMBERS = Array.from({ length: 40 }, (_, index) => index + 1);

test.each([[[7]], [[3, 38]], [[1, 2, 40]], [[20, 21]]])("of 40 faults, %j alone are left", (needed) => {
  let runs = 0;
  const fails = (some: readonly number[]) => {
    runs++;
    return needed.every((one) => some.includes(one));
  };
  expect(shrunk(NUMBERS, fails)).toEqual(needed);
  expect(runs).toBeLessThan(100);
});

test("where every fault is needed, all are left", () => {
  expect(shrunk([1, 2, 3], (some) => some.length === 3)).toEqual([1, 2, 3]);
});
