import { expect, test } from "vitest";
import { HeldAudio } from "./held-audio.ts";

test("gives each frame once, when the video has reached its time", () => {
  const held = new HeldAudio<string>();
  expect(held.takeUntil(100)).toEqual([]);
  for (const ticks of [10, 20, 30]) expect(held.add(ticks, `at ${ticks}`)).toBeUndefined();
  expect(held.takeUntil(9)).toEqual([]);
  expect(held.takeUntil(20)).toEqual(["at 10", "at 20"]);
  expect(held.takeUntil(Number.POSITIVE_INFINITY)).toEqual(["at 30"]);
  expect(held.takeUntil(Number.POSITIVE_INFINITY)).toEqual([]);
});

test("returns the oldest frame where no video comes for too long", () => {
  const held = new HeldAudio<number>();
  const dropped = Array.from({ length: 502 }, (_, at) => held.add(at, at)).filter((frame) => frame !== undefined);
  expect(dropped).toEqual([0, 1]);
  expect(held.takeUntil(600)).toHaveLength(500);
});
