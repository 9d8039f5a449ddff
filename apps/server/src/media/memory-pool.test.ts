import { describe, expect, test } from "vitest";
import { MemoryPool } from "./memory-pool.ts";

describe("memory for packets", () => {
  test("that was released is used again, whatever part of it was used", () => {
    const pool = new MemoryPool();
    const first = pool.allocate(1000);
    pool.release(first.subarray(5));
    const second = pool.allocate(995);
    expect(second.buffer).toBe(first.buffer);
    expect(second.byteLength).toBe(995);
  });

  test("that is held is never handed out twice", () => {
    const pool = new MemoryPool();
    const buffers = new Set(Array.from({ length: 100 }, (_, size) => pool.allocate(size * 100).buffer));
    expect(buffers.size).toBe(100);
  });

  test("from elsewhere is not taken in", () => {
    const pool = new MemoryPool();
    const foreign = new Uint8Array(256);
    pool.release(foreign);
    expect(pool.allocate(256).buffer).not.toBe(foreign.buffer);
  });

  test("that is very large is left to the garbage collector", () => {
    const pool = new MemoryPool();
    const large = pool.allocate(1_500_000);
    pool.release(large);
    expect(pool.allocate(1_500_000).buffer).not.toBe(large.buffer);
  });

  test("that is released twice is handed out once", () => {
    const pool = new MemoryPool();
    const first = pool.allocate(300);
    pool.release(first);
    pool.release(first);
    expect(pool.allocate(300).buffer).not.toBe(pool.allocate(300).buffer);
  });
});
