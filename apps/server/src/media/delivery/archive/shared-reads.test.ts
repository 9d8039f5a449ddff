import { expect, test } from "vitest";
import { SharedReads } from "./shared-reads.ts";

type Views = readonly Uint8Array[];

/** Counts how often it is read; `fails` the first time. */
function sourceOf(bytes: number, fails = false) {
  const reads = new SharedReads();
  const source = {
    reads: 0,
    memory: reads,
    async read(key: string) {
      const found = await reads.read(key, bytes, source.fill);
      if (!found) throw new Error(`${key} is not whole`);
      return found;
    },
    async fill(views: Views) {
      source.reads++;
      await new Promise((resolve) => setImmediate(resolve));
      if (fails && source.reads === 1) throw new Error("the store is away");
      for (const view of views) view.fill(source.reads);
      return bytes;
    },
  };
  return source;
}

test("ten thousand who ask at the same time, or soon after, cost one read", async () => {
  const source = sourceOf(1_000);
  const answers = await Promise.all(Array.from({ length: 10_000 }, () => source.read("a/1")));
  expect(new Set(answers).size).toBe(1);
  expect((await source.read("a/1")).byteLength).toBe(1_000);
  expect(source.reads).toBe(1);
});

test("ten thousand who ask for random segments of a session cost one read a segment, 32 at a time, and what is kept has a bound", async () => {
  const reads = new SharedReads();
  const [read, now] = [new Map<string, number>(), { count: 0, most: 0 }];
  const ask = (key: string) =>
    reads.read(key, 200 * 1024, async () => {
      read.set(key, (read.get(key) ?? 0) + 1);
      now.most = Math.max(now.most, ++now.count);
      await new Promise((resolve) => setImmediate(resolve));
      now.count--;
      return 200 * 1024;
    });
  // Each answers and lets go of its bytes.
  await Promise.all(Array.from({ length: 10_000 }, async (_, n) => (await ask(`a/${(n * 7919) % 300}`))?.release()));
  expect(read.size).toBe(300);
  expect(Math.max(...read.values())).toBe(1);
  expect(now.most).toBeLessThanOrEqual(32);
});

test("a failure is everybody's who waited, and the next one reads again", async () => {
  const source = sourceOf(10, true);
  const both = await Promise.allSettled([source.read("a/1"), source.read("a/1")]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await source.read("a/1")).byteLength).toBe(10);
  expect(source.reads).toBe(2);
});

test("what is kept is bounded: the oldest is read again", async () => {
  const source = sourceOf(16 * 1024 * 1024);
  for (let number = 0; number < 6; number++) await source.read(`a/${number}`);
  await source.read("a/5");
  expect(source.reads).toBe(6);
  await source.read("a/0");
  expect(source.reads).toBe(7);
});

test("the memory of what is not kept any more is used again, once its last reader has it", async () => {
  const source = sourceOf(16 * 1024 * 1024);
  const first = await source.read("a/0");
  for (let number = 1; number < 6; number++) (await source.read(`a/${number}`)).release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(Buffer.concat(first.views).equals(Buffer.alloc(16 * 1024 * 1024, 1))).toBe(true);
  const kept = 4 * 512;
  expect(source.memory.pagesInUse).toBe(kept + 512);
  first.release();
  expect(source.memory.pagesInUse).toBe(kept);
});

test("a read that breaks off, and one that finds less or nothing, keeps no memory and is tried again", async () => {
  const reads = new SharedReads();
  const breaking = () => Promise.reject(new Error("the store is away"));
  await expect(reads.read("a/0", 1_000_000, breaking)).rejects.toThrow("the store is away");
  expect(await reads.read("a/0", 1_000_000, async () => 999_999)).toBeNull();
  expect(await reads.read("a/0", 1_000_000, async () => null)).toBeNull();
  expect(reads.pagesInUse).toBe(0);
  expect((await reads.read("a/0", 1_000_000, async () => 1_000_000))?.byteLength).toBe(1_000_000);
});
