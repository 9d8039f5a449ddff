import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { listedRenditions } from "./support/live-renditions.ts";
import { WeirProcess } from "./support/weir-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MAX_INSTALLED_MB = 460;
/** Mostly npm requests to the registry. */
const TIMEOUT_MS = 300_000;
const run = promisify(execFile);

test(
  "a release installs without development packages, stays small, transcodes, and serves the dashboard",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "weir-release-test-"));
    try {
      const { stdout: archive } = await run("npm", ["run", "--silent", "release"], { cwd: ROOT });
      await run("tar", ["-xzf", archive.trim(), "-C", folder]);
      const installed = join(folder, basename(archive.trim(), ".tar.gz"));
      await run("npm", ["ci", "--omit=dev", "--prefer-offline"], { cwd: installed });
      const weight = await megabytes(installed);
      expect(weight).toBeLessThanOrEqual(MAX_INSTALLED_MB);
      const start = await readFile(join(ROOT, "docs/1-start/README.md"), "utf8");
      const documented = (pattern: RegExp) => Number(pattern.exec(start)?.[1]);
      expect(documented(/tar\.gz \((\d+) MB\)/)).toBe(Math.round((await stat(archive.trim())).size / 1_000_000));
      expect(Math.abs(documented(/--omit=dev\s+# about (\d+) MB/) - weight)).toBeLessThan(15);
      expect(await readdir(join(installed, "node_modules"))).not.toContain("vite");

      await using weir = await WeirProcess.start({ root: installed, readyWithinMs: 60_000 });
      const page = await (await fetch(weir.url, { headers: { accept: "text/html" } })).text();
      const [script = ""] = page.match(/(?<=src=")[^"]+\.js/) ?? [];
      expect((await fetch(new URL(script, weir.url))).status).toBe(200);
      for (const path of ["/docs/watch", "/docs/reference/streams"])
        expect(await (await fetch(new URL(path, weir.url))).text()).toContain("</article>");

      const shell = { PATH: process.env.PATH, WEIR_URL: weir.url, WEIR_API_KEY: weir.apiKey };
      const listed = await run(join(installed, "bin/weir"), ["streams", "list", "--json"], { env: shell });
      expect(JSON.parse(listed.stdout)).toEqual([]);

      const stream = await weir.client.streams.create({
        name: "released",
        profiles: [{ name: "180p", width: 320, height: 180, bitrate: 200_000, fps: 30 }],
      });
      await weir.client.streams.testBroadcast(stream.id, { seconds: 60 });
      await expect
        .poll(async () => (await listedRenditions(weir.hlsUrl(stream.playbackId))).length, { timeout: 30_000 })
        .toBeGreaterThan(2);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  TIMEOUT_MS,
);

async function megabytes(folder: string): Promise<number> {
  const { stdout } = await run("du", ["-sm", folder]);
  return Number.parseInt(stdout, 10);
}
