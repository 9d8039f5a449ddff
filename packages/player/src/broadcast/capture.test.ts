import { expect, test } from "vitest";
import { captureProblem } from "./capture.ts";

test.each([
  ["NotAllowedError", "refused"],
  ["NotFoundError", "missing"],
  ["OverconstrainedError", "missing"],
  ["NotReadableError", "busy"],
  ["TypeError", "other"],
])("%s of the browser: %s", (name, problem) => {
  expect(captureProblem({ name })).toBe(problem);
});
