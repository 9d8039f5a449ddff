import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./test-step.ts";

/** Documented operations are called through the client, by the dashboard and by the tests that run with `npm test`. */
const CALLERS = [
  "apps/dashboard/src/**/*.{ts,tsx}",
  "apps/server/test/**/*.{test,alone}.ts",
  "apps/server/test/support/*.ts",
];
const EXCEPTIONS = new Map([
  [
    "apps/dashboard/src/watch/video-state.ts",
    "two public questions on the page that viewers wait for: the client is 7 kB",
  ],
]);
/** Paths that the reference does not list. */
const UNDOCUMENTED = /^(dashboard\/|openapi\.json)/;

it("documented operations are called through the client", () => {
  const files = globSync(CALLERS, { cwd: ROOT }).filter(
    (path) => !path.startsWith("apps/dashboard") || !path.includes(".test."),
  );
  expect(files.length).toBeGreaterThan(300);
  const callers = files.filter((path) => {
    const calls = readFileSync(join(ROOT, path), "utf8").matchAll(/\bfetch\(\s*[`"'][^`"']*?\/api\/([^`"'?]*)/g);
    return [...calls].some(([, operation = ""]) => !UNDOCUMENTED.test(operation));
  });
  expect(callers).toEqual([...EXCEPTIONS.keys()]);
});
