import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./source-files.ts";

test("migration numbers have no gaps and no duplicates", () => {
  const numbers = sourceFiles(".sql")
    .filter((path) => path.startsWith("apps/server/migrations/"))
    .map((path) => Number(/\/(\d{4})-[a-z-]+\.sql$/.exec(path)?.[1]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test("the first line of a migration says whether older builds go on beside it", () => {
  const wrong = sourceFiles(".sql").filter(
    (path) =>
      path.startsWith("apps/server/migrations/") &&
      Number(/\/(\d{4})-/.exec(path)?.[1]) > 37 &&
      !/^-- (?:expand|contract)\n/.test(readSource(path)),
  );
  expect(wrong).toEqual([]);
});
