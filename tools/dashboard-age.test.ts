import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTestFolder } from "../apps/server/src/platform/test-folder-rig.ts";
import { isDashboardStale } from "./dashboard-age.ts";

const FILES = [
  "apps/dashboard/src/app/main.tsx",
  "apps/dashboard/public/favicon.svg",
  "apps/dashboard/index.html",
  "apps/dashboard/docs.html",
  "apps/dashboard/watch.html",
  "apps/dashboard/vite.config.ts",
  "packages/client/src/index.ts",
  "packages/contract/src/index.ts",
  "packages/player/src/index.ts",
  "packages/player/build.ts",
  "tools/compressed.ts",
];
const BUILT = ["apps/dashboard/dist/index.html", "packages/player/dist/player-0.1.0-c1.js"];
const BEFORE = new Date("2026-01-01T00:00:00Z");

let root: string;

/** Creates sources that are older than the build. */
beforeEach(() => {
  root = makeTestFolder("dashboard");
  for (const file of [...FILES, ...BUILT]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "");
  }
  for (const file of FILES) {
    utimesSync(join(root, file), BEFORE, BEFORE);
    utimesSync(dirname(join(root, file)), BEFORE, BEFORE);
  }
  utimesSync(join(root, "apps/dashboard/src"), BEFORE, BEFORE);
});

afterEach(() => rmSync(root, { recursive: true }));

test("a dashboard that is newer than its sources is not stale, which takes one look at each file and folder", () => {
  const looks: string[] = [];
  expect(isDashboardStale(root, (path) => looks.push(path))).toBe(false);
  const folders = ["apps/dashboard/src", "apps/dashboard/src/app", "apps/dashboard/public"];
  const others = ["packages/client/src", "packages/contract/src", "packages/player/src"];
  expect(looks.toSorted()).toEqual([...FILES, ...folders, ...others].map((path) => join(root, path)).toSorted());
});

test("the first file that is newer ends the check", () => {
  const later = new Date(Date.now() + 1000);
  utimesSync(join(root, "apps/dashboard/src"), later, later);
  const looks: string[] = [];
  expect(isDashboardStale(root, (path) => looks.push(path))).toBe(true);
  expect(looks).toEqual([join(root, "apps/dashboard/src")]);
});

test.each(BUILT)("a dashboard or a player that was never built is stale: %s", (built) => {
  rmSync(join(root, dirname(built)), { recursive: true });
  expect(isDashboardStale(root)).toBe(true);
});

test.each(FILES)("a dashboard is stale after a change of %s", (file) => {
  const later = new Date(Date.now() + 1000);
  utimesSync(join(root, file), later, later);
  expect(isDashboardStale(root)).toBe(true);
});

test("a dashboard is stale after a file is removed", () => {
  rmSync(join(root, "apps/dashboard/src/app/main.tsx"));
  const later = new Date(Date.now() + 1000);
  utimesSync(join(root, "apps/dashboard/src/app"), later, later);
  expect(isDashboardStale(root)).toBe(true);
});
