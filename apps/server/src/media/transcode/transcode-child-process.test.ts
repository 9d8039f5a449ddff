import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { TranscodePool } from "./transcode-child-process.ts";
import { type FromChild, frameOf } from "./transcode-protocol.ts";

const ignored = { message: () => {}, exited: () => {} };

test("no process is started in the turn that takes a child, which gets what it was sent in it; one that is killed in it never", async () => {
  const pool = new TranscodePool(silentLog, new Slices(systemClock));
  const messages: FromChild[] = [];
  const kept = pool.take({ message: (message) => messages.push(message), exited: () => {} });
  const killed = pool.take(ignored);
  // It begins with no cut, so the child complains.
  const frame = frameOf({ type: "cut", msn: 1, ticks: 0 });
  kept.send(frame);
  killed.kill();
  expect([kept.pid, kept.backlogBytes, killed.pid]).toEqual([0, frame.byteLength, 0]);
  await expect.poll(() => messages, { timeout: 15_000 }).toMatchObject([{ type: "error", isFatal: true }]);
  expect(kept.pid).toBeGreaterThan(0);
  expect(killed.pid).toBe(0);
  pool.close();
  await expect.poll(() => pool.count, { timeout: 5_000 }).toBe(0);
});

test("a pool that is closed before its processes are started has none", async () => {
  const slices = new Slices(systemClock);
  const pool = new TranscodePool(silentLog, slices);
  const child = pool.take(ignored);
  pool.close();
  // After the turns of the child and of the spare one.
  await slices.turn();
  expect([child.pid, pool.count]).toEqual([0, 0]);
});
