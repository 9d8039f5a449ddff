import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { startWeir } from "./support/run-weir.ts";

/** Command lines of all processes that name `text`. */
function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1") + readFileSync(`/proc/${pid}/cmdline`, "latin1");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(text));
}

test("weir capacity that is killed takes its server with it, and one that is stopped leaves nothing", async () => {
  const folder = makeTestFolder("capacity");
  onTestFinished(() => rm(folder, { recursive: true }));
  const measure = () => startWeir(["capacity", "--anyway"], { TMPDIR: folder });
  const isUp = () => processesWith(folder).some((line) => line.includes("load-child"));

  const killed = measure();
  await expect.poll(isUp, { timeout: 60_000 }).toBe(true);
  killed.child.kill("SIGKILL");
  await expect.poll(() => processesWith(folder), { timeout: 20_000 }).toEqual([]);
  const left = readdirSync(folder);
  expect(left).toContainEqual(expect.stringMatching(/^weir-capacity-/));

  const stopped = measure();
  await expect.poll(isUp, { timeout: 60_000 }).toBe(true);
  stopped.child.kill("SIGTERM");
  expect(await stopped.exited).toBe(1);
  // Younger than a minute, those of the killed run stay; nothing of the stopped one does.
  expect(readdirSync(folder)).toEqual(left);
});
