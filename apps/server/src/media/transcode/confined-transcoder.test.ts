import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { confinements, UNCONFINED } from "../../platform/confinement/confinement.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { TranscodePool } from "./transcode-child-process.ts";
import { makeSource, rung, timesOf } from "./transcode-child-rig.ts";
import { type FromChild, frameOf } from "./transcode-protocol.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-transcoder-"));
afterAll(() => rmSync(folder, { recursive: true }));

const all = [UNCONFINED, ...confinements({ hidden: [folder], groups: [] })];
test.each(all.map((confinement) => [confinement.bounds.join(", ") || "nothing", confinement] as const))(
  "a transcoder that %s confines makes pictures, and nothing of it is left when it is killed",
  async (_, confinement) => {
    const source = await makeSource({ times: timesOf(30, 30) });
    const pool = new TranscodePool(silentLog, new Slices(systemClock), confinement);
    const messages: FromChild[] = [];
    let exited: string | null = null;
    const child = pool.take({
      message: (message) => messages.push(message),
      exited: (reason) => {
        exited = reason;
      },
    });
    const start = { video: source.video, rungs: [rung(0, 160, 90)], preset: "superfast", encoder: "libx264" } as const;
    child.send(frameOf({ type: "start", start }));
    child.send(frameOf({ type: "cut", msn: 1, ticks: 0 }));
    for (const packet of source.packets) child.send(frameOf(packet));
    const made = () => messages.filter(({ type }) => type === "packet").length;
    await expect.poll(() => exited ?? made() > 20, { timeout: 15_000 }).not.toBe(false);
    if (exited) return console.log(`not tried, for this machine does not allow it: ${exited}`);
    const family = descendants(child.pid);
    child.kill();
    await expect.poll(() => family.filter(isAlive), { timeout: 5000 }).toEqual([]);
    pool.close();
    await expect.poll(() => pool.count, { timeout: 5000 }).toBe(0);
  },
);

/** The process and those below it. Linux only; elsewhere itself. */
function descendants(pid: number): number[] {
  if (process.platform !== "linux") return [pid];
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(descendants)];
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
