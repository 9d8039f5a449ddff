import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { lipSyncOf } from "./support/lip-sync.ts";

const arena = openArena();
const RUNS = Number(process.env.WEIR_TEST_SYNC_RUNS ?? 20);
const LIMIT_MS = 40;

test.each([
  ["forwarded", 0],
  ["re-encoded", 2],
] as const)(
  "flash and beep are within 40 ms in every run by WHEP, %s",
  async (how, bFrames) => {
    const worst: number[] = [];
    for (let run = 0; run < RUNS; run++) worst.push(await lipSyncOf(arena.weir, bFrames));
    console.log(`${how}: beep after flash, worst of each run in ms:`, worst.map((ms) => ms.toFixed(1)).join(" "));
    expect(worst.filter((ms) => !(Math.abs(ms) <= LIMIT_MS))).toEqual([]);
  },
  RUNS * 30_000,
);
