import { expect, test } from "vitest";
import { FrameRateMeter } from "./frame-rate-meter.ts";

test.each([1, 24, 30_000 / 1001, 60, 120])("%d frames a second are measured through rounded times", (rate) => {
  const meter = new FrameRateMeter();
  const rates = Array.from({ length: 60 }, (_, i) => meter.add(Math.round((i * 1000) / rate) * 90));
  expect(rates.slice(0, 7)).toEqual([null, null, null, null, null, null, null]);
  expect(Math.abs((rates.at(-1) ?? 0) / rate - 1)).toBeLessThan(0.01);
});

test("after a pause the measure begins again", () => {
  const meter = new FrameRateMeter();
  for (let i = 0; i < 20; i++) meter.add(i * 3000);
  expect(meter.add(900_000)).toBe(null);
});
