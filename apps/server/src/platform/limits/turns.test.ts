import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { TooManyWaiting, Turns } from "./turns.ts";

test("a limit that falls lets no more work start, and one that rises starts what waits", async () => {
  let slots = 2;
  const turns = new Turns({ atATime: () => slots });
  const ends: (() => void)[] = [];
  let begun = 0;
  const work = () => {
    begun++;
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  for (let n = 0; n < 6; n++) void turns.run(work);
  expect(begun).toBe(2);
  slots = 1;
  ends.shift()?.();
  await turnOfTheLoop();
  expect(begun).toBe(2);
  slots = 3;
  ends.shift()?.();
  await turnOfTheLoop();
  expect(begun).toBe(5);
});

test("failed work releases its slot", async () => {
  const turns = new Turns({ atATime: 1 });
  await expect(turns.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns.run(async () => "made")).toBe("made");
});

test("more work than may wait is rejected", async () => {
  const turns = new Turns({ atATime: 1, maxWaiting: 1 });
  let end = () => {};
  const first = turns.run(() => new Promise<void>((resolve) => (end = resolve)));
  const second = turns.run(async () => "second");
  await expect(turns.run(async () => "third")).rejects.toThrow(TooManyWaiting);
  end();
  await first;
  expect(await second).toBe("second");
});
