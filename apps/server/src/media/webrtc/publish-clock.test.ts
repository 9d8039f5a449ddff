import { expect, it } from "vitest";
import { PublishClock } from "./publish-clock.ts";

it("audio and video start at their arrival times, across a timestamp wrap", () => {
  const clock = new PublishClock();
  expect(clock.timeOf("video", 2 ** 32 - 1000, 100)).toBe(9000);
  expect(clock.timeOf("video", 2000, 133)).toBe(12_000);
  expect(clock.timeOf("audio", 77, 150)).toBe(13_500);
  expect(clock.timeOf("audio", 77 + 960, 999)).toBe(15_300);
});

it("video moves to the position of the sender's clock by one millisecond per picture; audio stays", () => {
  const clock = new PublishClock();
  clock.timeOf("audio", 0, 0);
  // The picture of the same moment arrives 5 ms later.
  clock.timeOf("video", 0, 5);
  clock.report("audio", 0, 1_000_000);
  clock.report("video", 0, 1_000_000);
  const late = Array.from({ length: 8 }, (_, index) => clock.timeOf("video", index * 3000, 0) - index * 3000);
  expect(late).toEqual([360, 270, 180, 90, 0, 0, 0, 0]);
  expect(clock.timeOf("audio", 960, 0)).toBe(1800);
});

it("unrelated clocks are not aligned", () => {
  const clock = new PublishClock();
  clock.timeOf("audio", 0, 0);
  clock.timeOf("video", 0, 5);
  clock.report("audio", 0, 1_000_000);
  clock.report("video", 0, 0);
  expect(clock.timeOf("video", 3000, 40)).toBe(3450);
});
