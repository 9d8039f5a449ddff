import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { experienceOf, measured, told } from "./support/bystander.ts";
import { HostileSources } from "./support/hostile-sources.ts";
import type { WeirProcess } from "./support/weir-process.ts";

const EACH = 2;
const ATTACK_MS = 30_000;
/** A part every third of a second, at most half a second late, plus the duration of a playlist request. */
const LONGEST_STALL_MS = 1_500;
const MOST_MEGABYTES = 400;

const residentMegabytes = ({ pid }: WeirProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const arena = openArena({ env: { WEIR_PULL_NETWORKS: "127.0.0.0/8" } });

test("a hostile source of each kind, twice: none is live, each is told, a viewer beside them misses nothing, and all is let go", async (context) => {
  await using hostile = await HostileSources.start();
  const { weir } = arena;
  const before = residentMegabytes(weir);
  const ids: { readonly name: string; readonly id: string }[] = [];
  let most = 0;
  const experience = await experienceOf(
    weir,
    async () => {
      for (const { name, url } of hostile.sources)
        for (let n = 0; n < EACH; n++) {
          const pull = { source: `${url}${url.includes("rtmp") ? n : `?${n}`}` };
          ids.push({ name, id: (await weir.client.streams.pull({ name, profiles: [], pull })).id });
        }
      for (let ms = 0; ms < ATTACK_MS; ms += 500) {
        await wait(500);
        most = Math.max(most, residentMegabytes(weir) - before);
      }
    },
    { seconds: 120 },
  );
  const stateOf = async ({ name, id }: (typeof ids)[number]): Promise<string> => {
    const { status } = await weir.client.streams.get(id);
    return `${name}: ${status.state}, ${status.pull?.state} (${status.pull?.reason})`;
  };
  const states = await Promise.all(ids.map(stateOf));
  const failed = new Set<string>();
  // At any one moment some of them are tried again.
  const failedSoFar = async (): Promise<number> => {
    for (const each of ids) if ((await stateOf(each)).includes("retrying")) failed.add(each.id);
    return failed.size;
  };
  // One byte at a time is a slow source, and one whose media cannot be read is told after some seconds.
  await expect.poll(failedSoFar, { timeout: 30_000 }).toBeGreaterThan(ids.length / 2);
  for (const { id } of ids) await weir.client.streams.delete(id);
  measured(context, `${Math.round(most)} MB more at most`, told(experience));
  const isTold = (state: string) => /: idle, (retrying|connecting|pulling)/.test(state);
  expect(states.filter((state) => !isTold(state))).toEqual([]);
  expect(states.join()).not.toContain("AAAA");
  expect([...hostile.connections.keys()].toSorted()).toEqual(hostile.sources.map(({ name }) => name).toSorted());
  await expect.poll(() => hostile.openConnections, { timeout: 30_000 }).toBe(0);
  expect(most).toBeLessThan(MOST_MEGABYTES);
  expect(experience.longestStallMs).toBeLessThan(LONGEST_STALL_MS);
  expect(experience.apiFailures).toBe(0);
});
