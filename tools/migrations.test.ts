import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

test("migration numbers have no gaps and no duplicates", () => {
  const numbers = sourceFiles(".sql")
    .filter((path) => path.startsWith("apps/server/migrations/"))
    .map((path) => Number(/\/(\d{4})-[a-z-]+\.sql$/.exec(path)?.[1]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});
