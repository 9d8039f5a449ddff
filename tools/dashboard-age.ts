import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

/** Everything that the dashboard is built from, the packages of npm aside: those come with an `npm ci`, which builds it. */
const SOURCES = [
  "apps/dashboard/src",
  "apps/dashboard/public",
  "apps/dashboard/index.html",
  "apps/dashboard/watch.html",
  "apps/dashboard/vite.config.ts",
  "packages/client/src",
  "packages/contract/src",
];
const BUILT = "apps/dashboard/dist/index.html";

/** Whether the dashboard under `root` was never built, or something that it is built from was written, added or removed since. */
export function isDashboardStale(root: string): boolean {
  const built = statSync(join(root, BUILT), { throwIfNoEntry: false });
  return built === undefined || SOURCES.some((path) => isNewer(join(root, path), built));
}

/** A folder is written when a file is added to it or removed. */
function isNewer(path: string, than: Stats): boolean {
  const stats = statSync(path);
  if (stats.mtimeMs > than.mtimeMs) return true;
  return stats.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), than));
}
