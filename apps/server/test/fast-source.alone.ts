import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";

const MEGABYTE = 1024 * 1024;
const SECONDS = 24;
/** How far a source may be ahead, plus one segment. */
const MAX_AHEAD_SECONDS = 12;

const arena = openArena();

test("a broadcaster that sends as fast as it can is slowed to real time, plays, and loses nothing", async () => {
  const bitrateBps = 20_000_000;
  const memory = residentBytes(arena.weir.pid);
  const startedAt = performance.now();
  const options = { inRealTime: false, seconds: SECONDS, bitrateBps, stream: { record: true } };
  await using broadcast = await startBroadcast(arena.weir, options);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(90);
  const mediaSeconds = (await broadcast.sessions())[0]?.sourceSegmentsDuration ?? 0;
  expect(mediaSeconds).toBeLessThan((performance.now() - startedAt) / 1000 + MAX_AHEAD_SECONDS);
  expect(await broadcast.publisher.ended).toBe(null);
  expect(residentBytes(arena.weir.pid) - memory).toBeLessThan((bitrateBps / 8) * SECONDS + 60 * MEGABYTE);
  // The last seconds arrive from network buffers.
  await broadcast.recorded();
  expect((performance.now() - startedAt) / 1000).toBeGreaterThan(SECONDS - MAX_AHEAD_SECONDS);
  expect((await broadcast.sessions())[0]?.sourceSegmentsDuration).toBeCloseTo(SECONDS, 0);
  expect(arena.weir.log).toContain("faster than real time");
  await player.close();
});

/** Memory is only checked on Linux. */
function residentBytes(pid: number): number {
  if (process.platform !== "linux") return 0;
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
