import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { encodingSlots, VodTurns } from "./vod-turns.ts";

test.each([
  [2, 0, 1],
  [2, 1.2, 1],
  [8, 0, 4],
  [8, 4.8, 1],
  [8, 3.9, 2],
])("with %d cores, %d of them for live transcoding, %d children may run", (cores, live, slots) => {
  expect(encodingSlots(cores, live)).toBe(slots);
});

test("slots that live transcoding takes are not reused, and those it releases are", async () => {
  let slots = 2;
  const turns = new VodTurns(() => slots);
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
  const turns = new VodTurns(() => 1);
  await expect(turns.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns.run(async () => "made")).toBe("made");
});
