import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { killed, startPipedChild } from "./piped-child.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-piped-child-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** In a process that has this many file descriptors and uses all of them. */
const LIMITED = 'ulimit -n 64 && exec "$0" "$@"';

test("a process without free file descriptors is told that its child does not start, and goes on", async () => {
  const script = join(folder, "starts.ts");
  const code = `
    import { openSync } from "node:fs";
    import { startPipedChild } from ${JSON.stringify(new URL("./piped-child.ts", import.meta.url).href)};
    try { for (;;) openSync("/dev/null"); } catch {}
    const { ended, input, output } = startPipedChild({ program: "never.ts" });
    input.write("for nobody");
    const { reason } = await ended;
    await output.toArray();
    await new Promise(setImmediate);
    console.log(reason);`;
  writeFileSync(script, code);
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", LIMITED, process.execPath, script]);
  expect(stdout).toMatch(/does not start: .*EMFILE/);
});

test("a child that the system refuses at once does not start, as one that it refuses later", async () => {
  // E2BIG, which Node throws as it does ENOMEM.
  const child = startPipedChild({ program: "x".repeat(1_000_000) });
  child.input.write("for nobody");
  expect((await child.ended).reason).toMatch(/does not start: .*E2BIG/);
  expect(await child.output.toArray()).toEqual([]);
  await killed(child);
});
