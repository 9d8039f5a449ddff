import { expect, test } from "vitest";
import { localInput, readLocalInput, relativeMoment } from "./moments.ts";

const NOW = 1_700_000_000_000;

test.each([
  [2_000, "just now"],
  [0, "just now"],
  [-9_000, "just now"],
  [-42_000, "42 seconds ago"],
  [-119_000, "1 minute ago"],
  [-7_200_000, "2 hours ago"],
  [-86_400_000, "yesterday"],
  [-3 * 31_536_000_000, "3 years ago"],
])("a moment %d ms from now is %s", (distance, text) => {
  expect(relativeMoment(NOW + distance, NOW)).toBe(text);
});

test("what an input for a moment says is what was put into it, to the minute", () => {
  const at = Date.UTC(2026, 10, 21, 4, 2);
  expect(localInput(at)).toMatch(/^2026-11-2[012]T\d\d:\d\d$/);
  expect(readLocalInput(localInput(at + 59_999))).toBe(at);
  expect(readLocalInput("")).toBeNaN();
});
