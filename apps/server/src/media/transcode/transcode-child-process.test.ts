import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { TranscodePool } from "./transcode-child-process.ts";
import { frameOf } from "./transcode-protocol.ts";

const pool = new TranscodePool(silentLog, new Slices(systemClock));
afterAll(() => pool.close());

const ignored = { message: () => {}, exited: () => {} };

test("no process is started in the turn that takes a child, and one that is killed in it never", async () => {
  const [kept, killed] = [pool.take(ignored), pool.take(ignored)];
  const frame = frameOf({ type: "cut", msn: 1, ticks: 0 });
  kept.send(frame);
  killed.kill();
  expect([kept.pid, kept.backlogBytes, killed.pid]).toEqual([0, frame.byteLength, 0]);
  await expect.poll(() => kept.isLoaded, { timeout: 15_000 }).toBe(true);
  expect([kept.backlogBytes, killed.pid]).toEqual([0, 0]);
  // The spare one is the other.
  expect(pool.count).toBe(2);
});

test("a pool that is closed before its processes are started has none", async () => {
  const closed = new TranscodePool(silentLog, new Slices(systemClock));
  const child = closed.take(ignored);
  closed.close();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect([child.pid, closed.count]).toEqual([0, 0]);
});
