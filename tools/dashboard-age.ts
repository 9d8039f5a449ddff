import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

/** Everything that the dashboard is built from except npm packages: they change with `npm ci`, which also builds the dashboard. */
const SOURCES = [
  "apps/dashboard/src",
  "apps/dashboard/public",
  "apps/dashboard/index.html",
  "apps/dashboard/watch.html",
  "apps/dashboard/docs.html",
  "apps/dashboard/vite.config.ts",
  "packages/client/src",
  "packages/contract/src",
];
const BUILT = "apps/dashboard/dist/index.html";

/**
 * Whether the dashboard under `root` was never built, or one of its sources was changed, added or removed since. Calls `onLook` for each file and
 * folder that it looks at.
 */
export function isDashboardStale(root: string, onLook: (path: string) => void = () => {}): boolean {
  const built = statSync(join(root, BUILT), { throwIfNoEntry: false });
  return built === undefined || SOURCES.some((path) => isNewer(join(root, path), built, onLook));
}

/** Adding or removing a file also updates the modification time of its folder. */
function isNewer(path: string, than: Stats, onLook: (path: string) => void): boolean {
  onLook(path);
  const stats = statSync(path);
  if (stats.mtimeMs > than.mtimeMs) return true;
  return stats.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), than, onLook));
}
