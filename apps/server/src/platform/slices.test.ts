import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock-rig.ts";
import { Slices } from "./slices.ts";

test("jobs take turns, with one slice of 5 ms in a turn of the event loop", async () => {
  const clock = new ManualClock();
  const slices = new Slices(clock);
  const done: string[] = [];
  let turns = 0;
  const looking = (): void => {
    turns++;
    immediate = setImmediate(looking);
  };
  let immediate = setImmediate(looking);
  const job = (name: string) =>
    slices.forEach(Array(64).keys(), (n) => {
      if (n % 16 === 0) done.push(`${name}${n}@${turns}`);
      clock.advance(0.5);
    });
  await Promise.all([job("a"), job("b")]);
  clearImmediate(immediate);
  const turnsOf = done.map((slice) => Number(slice.split("@")[1]));
  expect(done.map((slice) => slice.split("@")[0])).toEqual(["a0", "b0", "a16", "b16", "a32", "b32", "a48", "b48"]);
  expect(new Set(turnsOf).size).toBe(done.length);
});

test("an item that fails ends its own job alone", async () => {
  const slices = new Slices(new ManualClock());
  const failing = slices.forEach([1, 2], () => {
    throw new Error("no");
  });
  const seen: number[] = [];
  await Promise.all([expect(failing).rejects.toThrow("no"), slices.forEach([1, 2], (n) => seen.push(n))]);
  expect(seen).toEqual([1, 2]);
});
