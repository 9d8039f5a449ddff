import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LONGEST_MS, ReadingSince, watchFor } from "./hang-watch.ts";

const reader = () => new ReadingSince(undefined, () => BigInt(Date.now()) * 1_000n);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("an input that hangs is told once, and soon", () => {
  const reading = reader();
  const hung = vi.fn();
  watchFor(reading, hung);
  reading.begin();
  vi.advanceTimersByTime(LONGEST_MS);
  expect(hung).not.toHaveBeenCalled();
  vi.advanceTimersByTime(150);
  expect(hung).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(10 * LONGEST_MS);
  expect(hung).toHaveBeenCalledOnce();
});

test("a thread that reads nothing, or one input after another, does not hang", () => {
  const reading = reader();
  const hung = vi.fn();
  const watch = watchFor(reading, hung);
  vi.advanceTimersByTime(5 * LONGEST_MS);
  for (let n = 0; n < 10; n++) {
    reading.begin();
    vi.advanceTimersByTime(LONGEST_MS - 100);
    expect(reading.end()).toBe(false);
  }
  expect(hung).not.toHaveBeenCalled();
  clearInterval(watch);
});

test("the thread itself says that an input took too long", () => {
  const reading = reader();
  reading.begin();
  vi.advanceTimersByTime(LONGEST_MS + 1);
  expect(reading.end()).toBe(true);
});
