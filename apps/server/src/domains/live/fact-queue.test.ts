import { expect, it, vi } from "vitest";
import { silentLog } from "../../platform/log.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { MediaFact } from "../../ports/index.ts";
import { GOOD_SOURCE } from "../source-measure-rig.ts";
import { FactQueue } from "./fact-queue.ts";

type Write = (facts: readonly MediaFact[], dropped: ReadonlyMap<string, number>, number: number) => Promise<void>;

const at = { streamId: "a", epoch: 1, at: 0 };
const metrics = (mediaTimeMs: number): MediaFact => ({
  type: "source-metrics",
  ...at,
  sessionId: "s",
  source: GOOD_SOURCE,
  recordingRoom: null,
  webrtc: { publisher: null, viewers: null, hasBFrames: false },
  srt: null,
  targets: [],
  mediaTimeMs,
  ingestRate: 0,
  outgoingRate: 0,
  transcoding: null,
});
const back: MediaFact = { type: "source-back", ...at };

function queueOf(write: Write, capacity = 100) {
  const clock = new ManualClock();
  return { clock, queue: new FactQueue({ clock, log: silentLog, write, capacity }) };
}

it("telemetry is gathered for a tenth of a second and written in one batch", async () => {
  const write = vi.fn<Write>(async () => {});
  const { clock, queue } = queueOf(write);
  queue.report(metrics(1));
  clock.advance(99);
  queue.report(metrics(2));
  expect(write).not.toHaveBeenCalled();
  clock.advance(1);
  await expect.poll(() => write).toHaveBeenCalledOnce();
  expect(write.mock.calls[0]?.[0]).toEqual([metrics(1), metrics(2)]);
});

it("a change of the publisher's state is written within 20 ms, with what came before it", async () => {
  const write = vi.fn<Write>(async () => {});
  const { clock, queue } = queueOf(write);
  queue.report(metrics(1));
  queue.report(back);
  clock.advance(20);
  await expect.poll(() => write).toHaveBeenCalledOnce();
  expect(write.mock.calls[0]?.[0]).toEqual([metrics(1), back]);
});

it("while the database is away facts wait, and are written in order when it is back", async () => {
  const isAway = { value: true };
  const written: MediaFact[] = [];
  const { clock, queue } = queueOf(async (facts) => {
    if (isAway.value) throw Object.assign(new Error("gone"), { code: "57P01" });
    written.push(...facts);
  });
  queue.report(metrics(1));
  await queue.flush();
  queue.report(back);
  await queue.flush();
  expect(written).toEqual([]);
  isAway.value = false;
  clock.advance(10_000);
  await expect.poll(() => written).toEqual([metrics(1), back]);
});

it("who settles waits for what was told before, and not for what is told while a slow database writes", async () => {
  const written: MediaFact[] = [];
  const { queue } = queueOf(async (facts) => {
    written.push(...facts);
    if (written.length > 10) throw new Error("it waits for what was told later");
    queue.report(metrics(written.length));
  });
  queue.report(back);
  await expect(queue.settle()).resolves.toBe(true);
  expect(written).toEqual([back]);
  // The attempt that runs, and one of its own.
  const [first, second] = [queue.flush(), queue.settle()];
  await first;
  await expect(second).resolves.toBe(true);
  expect(written.length).toBeLessThan(5);
});

it("who settles waits for all that was told before, also where a full queue drops the newest of it meanwhile", async () => {
  const written: MediaFact[] = [];
  const ended: MediaFact = { type: "source-ended", ...at, why: "source-lost", reason: "gone", lastPacketAt: 0 };
  const { queue } = queueOf(async (facts) => {
    // One fact at a time is written, so that the others still wait.
    if (facts.length > 1) throw Object.assign(new Error("refused"), { code: "22000" });
    written.push(...facts);
    if (written.length === 1) queue.report(metrics(2));
  }, 3);
  for (const fact of [back, ended, metrics(1)]) queue.report(fact);
  await expect(queue.settle()).resolves.toBe(true);
  expect(written.slice(0, 2)).toEqual([back, ended]);
});

it("a full queue drops telemetry first, tells how much, and keeps the publisher's changes", async () => {
  const write = vi.fn<Write>(async () => {});
  const { queue } = queueOf(write, 3);
  for (const fact of [metrics(1), back, metrics(2), metrics(3)]) queue.report(fact);
  await queue.flush();
  expect(write.mock.calls).toEqual([[[back], new Map([["a", 3]]), 1]]);
});

it("a batch without an answer is tried again as it was, under its number, whatever comes or finds no room meanwhile", async () => {
  const tries: Parameters<Write>[] = [];
  const { queue } = queueOf(async (...attempt) => {
    tries.push(attempt);
    if (tries.length === 1) throw Object.assign(new Error("gone"), { code: "57P01" });
  }, 2);
  for (const fact of [metrics(1), metrics(2)]) queue.report(fact);
  await queue.flush();
  for (const fact of [metrics(3), back]) queue.report(fact);
  await queue.flush();
  expect(tries).toEqual([
    [[metrics(1), metrics(2)], new Map(), 1],
    [[metrics(1), metrics(2)], new Map(), 1],
    [[back], new Map([["a", 1]]), 2],
  ]);
});

it("a fact that the database refuses for good is dropped alone", async () => {
  const written: MediaFact[] = [];
  const bad = metrics(13);
  const { queue } = queueOf(async (facts) => {
    if (facts.includes(bad)) throw Object.assign(new Error("bad"), { code: "22003" });
    written.push(...facts);
  });
  for (const fact of [metrics(1), bad, back]) queue.report(fact);
  await queue.flush();
  expect(written).toEqual([metrics(1), back]);
});

it("closing writes what waits, and takes no more", async () => {
  const write = vi.fn<Write>(async () => {});
  const { queue } = queueOf(write);
  queue.report(metrics(1));
  await queue.close();
  queue.report(metrics(2));
  expect(await queue.settle()).toBe(false);
  expect(write).toHaveBeenCalledOnce();
});

it("facts other than telemetry that there was no room for are counted, so that their teller can tell them again", async () => {
  const { queue } = queueOf(async () => Promise.reject(new Error("away")), 3);
  for (const value of [1, 2, 3, 4]) queue.report(metrics(value));
  expect(queue.lost).toBe(0);
  const sealed = { ...at, type: "span-sealed", sessionId: "s", rendition: "source", span: "1", bytes: 1 } as const;
  for (let i = 0; i < 4; i++) queue.report(sealed);
  expect(queue.lost).toBeGreaterThan(0);
});
