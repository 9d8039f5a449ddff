import { expect, test, vi } from "vitest";
import { lastInASecond, MessageLimit } from "./message-limit.ts";

test("a flood of commands is obeyed twenty times a second", () => {
  let now = 0;
  const limit = new MessageLimit(() => now);
  const obeyed = () => Array.from({ length: 10_000 }, () => limit.take()).filter(Boolean).length;
  expect(obeyed()).toBe(20);
  now += 999;
  expect(obeyed()).toBe(0);
  now += 1;
  expect(obeyed()).toBe(20);
});

test("of a flood of credentials the first counts at once, and the last a second later", () => {
  vi.useFakeTimers();
  try {
    const taken: number[] = [];
    const give = lastInASecond((value: number) => void taken.push(value));
    for (let value = 0; value < 1000; value++) give(value);
    expect(taken).toEqual([0]);
    vi.advanceTimersByTime(1000);
    expect(taken).toEqual([0, 999]);
    vi.advanceTimersByTime(5000);
    give(7);
    expect(taken).toEqual([0, 999, 7]);
  } finally {
    vi.useRealTimers();
  }
});
