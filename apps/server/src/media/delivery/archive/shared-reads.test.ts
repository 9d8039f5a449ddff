import { expect, test } from "vitest";
import { SharedReads } from "./shared-reads.ts";

/** Counts how often it is read; `fails` the first time. */
function sourceOf(bytes: number, fails = false) {
  const source = {
    reads: 0,
    async *read() {
      source.reads++;
      await new Promise((resolve) => setImmediate(resolve));
      if (fails && source.reads === 1) throw new Error("the store is away");
      yield Buffer.alloc(bytes, source.reads);
    },
  };
  return source;
}

test("ten thousand who ask at the same time, or soon after, cost one read", async () => {
  const [reads, source] = [new SharedReads(), sourceOf(1_000)];
  const answers = await Promise.all(Array.from({ length: 10_000 }, () => reads.read("a/1", source.read)));
  expect(new Set(answers).size).toBe(1);
  expect((await reads.read("a/1", source.read)).byteLength).toBe(1_000);
  expect(source.reads).toBe(1);
});

test("ten thousand who ask for random segments of a session cost one read a segment, 32 at a time, and what is kept has a bound", async () => {
  const reads = new SharedReads();
  const [read, now] = [new Map<string, number>(), { count: 0, most: 0 }];
  const ask = (key: string) =>
    reads.read(key, async function* () {
      read.set(key, (read.get(key) ?? 0) + 1);
      now.most = Math.max(now.most, ++now.count);
      await new Promise((resolve) => setImmediate(resolve));
      yield Buffer.alloc(200 * 1024);
      now.count--;
    });
  // Each answers and lets go of its bytes.
  await Promise.all(Array.from({ length: 10_000 }, async (_, n) => (await ask(`a/${(n * 7919) % 300}`)).release()));
  expect(read.size).toBe(300);
  expect(Math.max(...read.values())).toBe(1);
  expect(now.most).toBeLessThanOrEqual(32);
});

test("a failure is everybody's who waited, and the next one reads again", async () => {
  const [reads, source] = [new SharedReads(), sourceOf(10, true)];
  const both = await Promise.allSettled([reads.read("a/1", source.read), reads.read("a/1", source.read)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect((await reads.read("a/1", source.read)).byteLength).toBe(10);
  expect(source.reads).toBe(2);
});

test("what is kept is bounded: the oldest is read again", async () => {
  const [reads, source] = [new SharedReads(), sourceOf(16 * 1024 * 1024)];
  for (let number = 0; number < 6; number++) await reads.read(`a/${number}`, source.read);
  await reads.read("a/5", source.read);
  expect(source.reads).toBe(6);
  await reads.read("a/0", source.read);
  expect(source.reads).toBe(7);
});

test("the memory of what is not kept any more is used again, once its last reader has it", async () => {
  const [reads, source] = [new SharedReads(), sourceOf(16 * 1024 * 1024)];
  const first = await reads.read("a/0", source.read);
  for (let number = 1; number < 6; number++) (await reads.read(`a/${number}`, source.read)).release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(Buffer.concat(first.views).equals(Buffer.alloc(16 * 1024 * 1024, 1))).toBe(true);
  const kept = 4 * 512;
  expect(reads.pagesInUse).toBe(kept + 512);
  first.release();
  expect(reads.pagesInUse).toBe(kept);
});

test("a read that breaks off keeps no memory", async () => {
  const reads = new SharedReads();
  const breaking = async function* () {
    yield Buffer.alloc(1024 * 1024);
    throw new Error("the store is away");
  };
  await expect(reads.read("a/0", breaking)).rejects.toThrow("the store is away");
  expect(reads.pagesInUse).toBe(0);
});
