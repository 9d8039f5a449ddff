import { expect, test } from "vitest";
import { positionText } from "./position-text.ts";

test.each([
  [-1, "0:00"],
  [66.9, "1:06"],
  [3666, "1:01:06"],
])("a position at %d s reads %s", (seconds, text) => {
  expect(positionText(seconds)).toBe(text);
});
