import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../source-files.ts";

/**
 * Compiles `packages/{name}` by its `tsconfig.build.json`, for as long as `use` has the folder of all packages. The compiler only writes (`noCheck`):
 * `npm run typecheck` has checked the same sources, and a newcomer's `npm ci` need not wait for that.
 */
export function withCompiled(name: string, use: (compiled: string) => void): void {
  const compiled = mkdtempSync(join(tmpdir(), `weir-${name}-compiled-`));
  try {
    const options = ["-p", join(ROOT, `packages/${name}/tsconfig.build.json`), "--outDir", compiled];
    execFileSync(join(ROOT, "node_modules/.bin/tsc"), options, { stdio: "inherit" });
    use(compiled);
  } finally {
    rmSync(compiled, { recursive: true });
  }
}
