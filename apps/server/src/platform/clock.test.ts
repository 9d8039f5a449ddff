import { expect, it } from "vitest";
import { DatabaseClock } from "./clock.ts";
import { ManualClock } from "./manual-clock-rig.ts";

it("a clock that follows the database's stays with it when the machine's is set, until the database gives its time again", () => {
  const machine = new ManualClock(1_000_000);
  const clock = new DatabaseClock(machine);
  clock.follow(1_040_000, machine.monotonic());
  expect(clock.now()).toBe(1_040_000);
  for (const step of [40_000, -90_000]) {
    const before = clock.now();
    machine.stepWall(step);
    machine.advance(1_500);
    expect(clock.now()).toBe(before + 1_500);
    clock.follow(before + 1_500, machine.monotonic());
    expect(clock.now()).toBe(before + 1_500);
  }
});

it("a clock that has not heard from the database is the machine's", () => {
  const machine = new ManualClock(1_000_000);
  const clock = new DatabaseClock(machine);
  machine.stepWall(40_000);
  expect(clock.now()).toBe(1_040_000);
});

it("of a database that answers slowly the time is not taken, and the machine's clock is set all the same", () => {
  const machine = new ManualClock(1_000_000);
  const clock = new DatabaseClock(machine);
  clock.follow(1_000_000, machine.monotonic());
  machine.stepWall(40_000);
  const askedAt = machine.monotonic();
  machine.advance(5_000);
  clock.follow(1_003_000, askedAt);
  expect(clock.now()).toBe(1_005_000);
});
