import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Everything that the dashboard and the player are built from except npm packages: they change with `npm ci`, which also builds both. */
const SOURCES = [
  "apps/dashboard/src",
  "apps/dashboard/public",
  "apps/dashboard/index.html",
  "apps/dashboard/watch.html",
  "apps/dashboard/docs.html",
  "apps/dashboard/vite.config.ts",
  "packages/client/src",
  "packages/contract/src",
  "packages/player/src",
  "packages/player/build.ts",
  "tools/compressed.ts",
];
/** What the builds write last, or into: the time of a folder is that of its newest name. */
const BUILT = ["apps/dashboard/dist/index.html", "packages/player/dist"];

/**
 * Whether the dashboard or the player under `root` was never built, or one of their sources was changed, added or removed since. Calls `onLook` for
 * each file and folder that it looks at.
 */
export function isDashboardStale(root: string, onLook: (path: string) => void = () => {}): boolean {
  const times = BUILT.map((path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  const builtMs = Math.min(...times);
  return SOURCES.some((path) => isNewer(join(root, path), builtMs, onLook));
}

/** Adding or removing a file also updates the modification time of its folder. */
function isNewer(path: string, thanMs: number, onLook: (path: string) => void): boolean {
  onLook(path);
  const stats = statSync(path);
  if (stats.mtimeMs > thanMs) return true;
  return stats.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), thanMs, onLook));
}
