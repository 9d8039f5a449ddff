import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { encodingPlaces, VodTurns } from "./vod-turns.ts";

test.each([
  [2, 0, 1],
  [2, 1.2, 1],
  [8, 0, 4],
  [8, 4.8, 1],
  [8, 3.9, 2],
])("of %d cores, with %d for live transcoding, there is room for %d children", (cores, live, places) => {
  expect(encodingPlaces(cores, live)).toBe(places);
});

test("places that live transcoding takes are not given again, and those it leaves are", async () => {
  let places = 2;
  const turns = new VodTurns(() => places);
  const ends: (() => void)[] = [];
  let begun = 0;
  const work = () => {
    begun++;
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  for (let n = 0; n < 6; n++) void turns.run(work);
  expect(begun).toBe(2);
  places = 1;
  ends.shift()?.();
  await turnOfTheLoop();
  expect(begun).toBe(2);
  places = 3;
  ends.shift()?.();
  await turnOfTheLoop();
  expect(begun).toBe(5);
});

test("work that fails gives its place back", async () => {
  const turns = new VodTurns(() => 1);
  await expect(turns.run(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await turns.run(async () => "made")).toBe("made");
});
