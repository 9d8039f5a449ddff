import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "./test-step.ts";

/** The dashboard and the tests that run with `npm test` call the API through the client, wherever it has a call. */
const CALLERS = [
  "apps/dashboard/src/**/*.{ts,tsx}",
  "apps/server/test/**/*.{test,alone}.ts",
  "apps/server/test/support/*.ts",
];
const CLIENT = "packages/client/src/**/*.ts";

/** Addresses that are written out, and why. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  "a public question on the page that viewers wait for: the client is 7 kB": [
    "apps/dashboard/src/pages/watch/total-views.ts: /api/data/views/query/total/*",
  ],
  "a sample for a person's terminal": ["apps/dashboard/src/features/access/api-key-sample.tsx: /api/stream"],
  "requests of a page, which the test waits for, counts, holds up or answers": [
    "apps/server/test/dashboard-broadcast.test.ts: /api/stream/*",
    "apps/server/test/dashboard-health.alone.ts: /api/data/views/query",
    "apps/server/test/dashboard-health.alone.ts: /api/stream",
    "apps/server/test/docs-pages.test.ts: /api/stream",
    "apps/server/test/sign-in.alone.ts: /api/dashboard/overview",
    "apps/server/test/sign-in.alone.ts: /api/dashboard/session",
    "apps/server/test/watch-page.test.ts: /api/playback/*",
  ],
};

/** What stands in an address for an id. */
const ID = "*";
const PLACEHOLDER = /:\w+|\$\{[^}]*\}/g;

const operations = new Set(
  globSync(CLIENT, { cwd: ROOT }).flatMap((path) =>
    [...textOf(path).matchAll(/"[A-Z]+ (\/api\/[^"]*)"/g)].map(([, address = ""]) => address.replace(PLACEHOLDER, ID)),
  ),
);

/** The operations of the client whose addresses a text has: behind a quote, the server's address or a wildcard, up to the query. */
function addressesIn(text: string): string[] {
  const addresses = [...text.matchAll(/(?<=["'`}*])\/api\/(?:\$\{[^}]*\}|[\w./*-])*/g)];
  return addresses
    .map(([address]) => address.replace(PLACEHOLDER, ID).replace(/\/$/, ""))
    .filter((address) => operations.has(address));
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

it("operations of the API are called through the client", () => {
  expect(operations.size).toBeGreaterThan(60);
  const files = globSync(CALLERS, { cwd: ROOT }).filter(
    (path) => !path.startsWith("apps/dashboard") || !path.includes(".test."),
  );
  expect(files.length).toBeGreaterThan(300);
  const found = files.flatMap((path) => addressesIn(textOf(path)).map((address) => `${path}: ${address}`));
  expect([...new Set(found)].sort()).toEqual(Object.values(EXCEPTIONS).flat().sort());
});

it.each([
  ["statusOf(`{weir.url}/api/stream`)", ["/api/stream"]],
  ["page.route(`**/api/stream/*/terminate`)", ["/api/stream/*/terminate"]],
  ['const address = "/api/asset?limit=2";', ["/api/asset"]],
  ["fetch('/api/dashboard/sign-in/', init)", ["/api/dashboard/sign-in"]],
  ['fetch("/api/openapi.json")', []],
  ['expect(names).toContain("POST /api/stream")', []],
])("an address is found however it is asked: %s", (text, addresses) => {
  expect(addressesIn(text)).toEqual(addresses);
});
