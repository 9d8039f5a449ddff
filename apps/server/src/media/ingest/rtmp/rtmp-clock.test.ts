import fc from "fast-check";
import { expect, test } from "vitest";
import { RtmpClock } from "./rtmp-clock.ts";

const HOUR = 3_600_000;

function unwrapped(timestamps: readonly number[]): number[] {
  const clock = new RtmpClock();
  return timestamps.map((timestamp) => clock.unwrap(timestamp));
}

test.each([
  ["a steady clock", [0, 33, 67], [0, 33, 67]],
  ["a start anywhere", [5_000_000, 5_000_033], [5_000_000, 5_000_033]],
  ["a wrap at 2^32", [0xfffffff0, 0x10], [0xfffffff0, 0x100000010]],
  ["a wrap at 2^31 of a sender with 31 bits", [0x7ffffff0, 0x10], [0x7ffffff0, 0x80000010]],
  ["2^31 passed by a sender with 32 bits", [0x7ffffff0, 0x80000010], [0x7ffffff0, 0x80000010]],
  [
    "the other track a little behind the wrap",
    [0xfffffff0, 0x10, 0xfffffff8, 0x20],
    [0xfffffff0, 0x100000010, 0xfffffff8, 0x100000020],
  ],
  [
    "the other track a little behind, after a wrap at 2^31",
    [0x7ffffff0, 100, 95, 120],
    [0x7ffffff0, 0x80000064, 0x8000005f, 0x80000078],
  ],
  ["a step back", [100_000, 40_000], [100_000, 40_000]],
  ["a jump of 5 hours", [1000, 1000 + 5 * HOUR], [1000, 1000 + 5 * HOUR]],
  ["a step back by 5 hours below zero", [1000, 0xffffffff - 5 * HOUR], [1000, -1 - 5 * HOUR]],
])("%s", (_, timestamps, expected) => {
  expect(unwrapped(timestamps)).toEqual(expected);
});

test.each([31, 32])("any sequence of steps below 12 days is followed exactly with %i bits", (bits) => {
  const step = fc.integer({ min: -(2 ** 30) + 1, max: 2 ** 30 - 1 });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** bits - 1 }), fc.array(step, { maxLength: 100 }), (start, steps) => {
      const times = [start];
      for (const delta of steps) times.push((times.at(-1) ?? 0) + delta);
      const modulus = 2 ** bits;
      expect(unwrapped(times.map((time) => ((time % modulus) + modulus) % modulus))).toEqual(times);
    }),
  );
});
