import { expect, test } from "vitest";
import { systemClock } from "./clock.ts";
import { ManualClock } from "./manual-clock-rig.ts";
import { BackOff, sleep, until } from "./retry.ts";

test("waits double up to the limit and start over after a reset", () => {
  const backOff = new BackOff(100, 500);
  expect([backOff.next(), backOff.next(), backOff.next(), backOff.next(), backOff.next()]).toEqual([
    100, 200, 400, 500, 500,
  ]);
  backOff.reset();
  expect(backOff.next()).toBe(100);
});

test("sleep ends when the clock has moved", async () => {
  const clock = new ManualClock();
  const slept = sleep(clock, 50).then(() => "awake");
  clock.advance(50);
  expect(await slept).toBe("awake");
});

test("until is true once the condition holds and false when the time is over", async () => {
  let looks = 0;
  expect(await until(systemClock, 5_000, () => ++looks === 3)).toBe(true);
  expect(await until(systemClock, 30, () => false)).toBe(false);
});
