import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { LONGEST } from "./longest-first.ts";
import { ROOT } from "./source-files.ts";

test("the test files that begin first exist", () => {
  expect(LONGEST.filter((name) => !existsSync(`${ROOT}/${name}`))).toEqual([]);
});
