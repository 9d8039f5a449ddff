import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { PAGE_BYTES, type Page, PageChain, PageMemory } from "./page-memory.ts";

const run = promisify(execFile);
const PAGES_A_SLAB = 128;
const random = (bytes: number, seed: number) => Uint8Array.from({ length: bytes }, (_, i) => (i * seed + seed) & 255);

test.each([
  ["nothing", []],
  ["small pieces within a page", [10, 0, 20]],
  ["a piece over several pages", [3 * PAGE_BYTES + 7]],
  ["pieces that end where pages end", [PAGE_BYTES, PAGE_BYTES - 5, 5, 1]],
])("a chain has the bytes of %s, from any of them on", (_, sizes) => {
  const chain = new PageChain(new PageMemory());
  const pieces = sizes.map((bytes, i) => random(bytes, i + 3));
  for (const piece of pieces) chain.append(piece);
  const whole = Buffer.concat(pieces);
  expect(chain.byteLength).toBe(whole.byteLength);
  for (const start of [0, 5, PAGE_BYTES - 1, PAGE_BYTES, whole.byteLength])
    expect(Buffer.concat(chain.from(start)).equals(whole.subarray(start))).toBe(true);
});

test("a chain grows by what others fill, over pages, and by nothing", () => {
  const chain = new PageChain(new PageMemory());
  chain.append(random(PAGE_BYTES - 5, 3));
  expect(chain.grow(0)).toEqual([]);
  const views = chain.grow(PAGE_BYTES + 10);
  for (const view of views) view.fill(7);
  chain.append(random(9, 5));
  expect(Buffer.concat(chain.from(0))).toEqual(
    Buffer.concat([random(PAGE_BYTES - 5, 3), Buffer.alloc(PAGE_BYTES + 10, 7), random(9, 5)]),
  );
});

test("what two chains hold is never in one page, and what one gives back the next uses", () => {
  const memory = new PageMemory();
  const chains = Array.from({ length: 100 }, (_, i) => {
    const chain = new PageChain(memory);
    chain.append(new Uint8Array(PAGE_BYTES + 100).fill(i));
    return chain;
  });
  expect(memory.pagesInUse).toBe(200);
  for (const [i, chain] of chains.entries())
    expect(chain.from(0).every((view) => view.every((b) => b === i))).toBe(true);
  chains[7]?.giveBack();
  const next = new PageChain(memory);
  const free = memory.pagesFree;
  next.append(new Uint8Array(2 * PAGE_BYTES));
  expect(memory.pagesFree).toBe(free - 2);
});

test("neighbouring pages are one view, also when they are taken for a second time", () => {
  const memory = new PageMemory();
  for (let round = 0; round < 3; round++) {
    const [one, other] = [new PageChain(memory), new PageChain(memory)];
    for (const chain of [one, other, one]) chain.append(new Uint8Array(2 * PAGE_BYTES));
    const sizes = one.from(0).map((view) => view.byteLength);
    // Taken again, its pages may lie side by side.
    expect(sizes).toEqual(round === 1 ? [4 * PAGE_BYTES] : [2 * PAGE_BYTES, 2 * PAGE_BYTES]);
    expect(other.from(PAGE_BYTES - 1).map((view) => view.byteLength)).toEqual([PAGE_BYTES + 1]);
    other.giveBack();
    one.giveBack();
  }
});

test("the memory of slabs that nobody uses goes back to the system but for a reserve, at once, and is used again", async () => {
  const released: Uint8Array[] = [];
  const memory = new PageMemory(async () => (bytes) => released.push(bytes));
  const pages: Page[] = Array.from({ length: 16 * PAGES_A_SLAB }, () => memory.take());
  await Promise.resolve();
  expect([memory.pagesInUse, memory.pagesFree]).toEqual([16 * PAGES_A_SLAB, 0]);
  for (const page of pages) memory.giveBack(page);
  expect([memory.pagesInUse, memory.pagesFree]).toEqual([0, 4 * PAGES_A_SLAB]);
  expect(new Set(released).size).toBe(12);
  expect(released.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(12 * PAGES_A_SLAB * PAGE_BYTES);
  const again = Array.from({ length: 16 * PAGES_A_SLAB }, () => memory.take());
  expect(new Set(again)).toEqual(new Set(pages));
});

test.runIf(process.platform === "linux")(
  "live windows that grow cause few full collections, none when they grow again, and leave no memory behind",
  async () => {
    const script = `
    const { PerformanceObserver, constants } = await import("node:perf_hooks");
    const { PAGE_BYTES, PageMemory } = await import(${JSON.stringify(new URL("page-memory.ts", import.meta.url).href)});
    let collections = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections++;
    }).observe({ entryTypes: ["gc"] });
    const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
    const memory = new PageMemory();
    const counts = [];
    for (let round = 0; round < 2; round++) {
      const before = collections;
      const pages = [];
      for (let taken = 0; taken < 1024; taken += 4, await turn()) for (let n = 0; n < 128; n++) pages.push(memory.take());
      await turn();
      counts.push(collections - before);
      for (const { bytes } of pages.slice(0, 4096)) bytes.fill(1);
      memory.giveAllBack(pages);
    }
    console.log(JSON.stringify({ counts, megabytes: process.memoryUsage.rss() / 2 ** 20 }));`;
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script]);
    const { counts, megabytes } = JSON.parse(stdout);
    // With a buffer for each slab, or each batch of 32, there were 16 and 8.
    expect(counts[0]).toBeLessThanOrEqual(6);
    expect(counts[1]).toBeLessThanOrEqual(1);
    expect(megabytes).toBeLessThan(128);
  },
);

test("a system that grants no large buffer gives small ones", () => {
  const memory = new PageMemory();
  const { ArrayBuffer: real } = globalThis;
  vi.stubGlobal(
    "ArrayBuffer",
    class extends real {
      constructor(bytes: number, options?: { maxByteLength?: number }) {
        if (bytes > 32 * 1024 * 1024) throw new RangeError("Array buffer allocation failed");
        super(bytes, options);
      }
    },
  );
  try {
    const pages = Array.from({ length: 40 * PAGES_A_SLAB }, () => memory.take());
    expect(new Set(pages.map(({ bytes }) => bytes.buffer)).size).toBe(5);
  } finally {
    vi.unstubAllGlobals();
  }
});

test("a slab with one page in use stays, and its free pages are used before others", () => {
  const memory = new PageMemory();
  const pages = Array.from({ length: 8 * PAGES_A_SLAB }, () => memory.take());
  const kept = pages.filter((_, i) => i % PAGES_A_SLAB === 0);
  for (const page of pages) if (!kept.includes(page)) memory.giveBack(page);
  expect([memory.pagesInUse, memory.pagesFree]).toEqual([8, 8 * PAGES_A_SLAB - 8]);
  for (const { bytes } of kept) expect(bytes.byteLength).toBe(PAGE_BYTES);
  for (let i = 0; i < 8 * PAGES_A_SLAB - 8; i++) memory.take();
  expect(memory.pagesFree).toBe(0);
});

test("what nobody gave back is given back by the collector", async () => {
  // In a process of its own: what other tests leave in this one decides what its collector finds.
  const script = `
    const { PAGE_BYTES, PageChain, PageMemory } = await import(${JSON.stringify(new URL("page-memory.ts", import.meta.url).href)});
    const memory = new PageMemory();
    (() => { new PageChain(memory).append(new Uint8Array(3 * PAGE_BYTES)); })();
    const before = memory.pagesInUse;
    for (let look = 0; look < 500 && memory.pagesInUse > 0; look++) {
      gc();
      await new Promise(setImmediate);
    }
    console.log(JSON.stringify([before, memory.pagesInUse]));`;
  const { stdout } = await run(process.execPath, ["--expose-gc", "--input-type=module", "--eval", script]);
  expect(JSON.parse(stdout)).toEqual([3, 0]);
});
