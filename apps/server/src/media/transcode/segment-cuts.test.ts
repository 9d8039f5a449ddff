import { expect, test } from "vitest";
import { SegmentCuts } from "./segment-cuts.ts";

test("a segment is new at its first frame at or after the cut, once", () => {
  const cuts = new SegmentCuts();
  expect(cuts.at(0)).toBe(null);
  cuts.add(1, 3000);
  cuts.add(2, 180_000);
  expect(cuts.at(2999)).toBe(null);
  expect(cuts.at(3000)).toEqual({ msn: 1, ticks: 3000, isNew: true });
  expect(cuts.at(6000)).toEqual({ msn: 1, ticks: 3000, isNew: false });
  expect(cuts.at(180_001)).toEqual({ msn: 2, ticks: 180_000, isNew: true });
});

test("a segment in which no frame lies is passed over", () => {
  const cuts = new SegmentCuts();
  for (const msn of [1, 2, 3]) cuts.add(msn, msn * 10);
  expect(cuts.at(35)).toEqual({ msn: 3, ticks: 30, isNew: true });
});

test("cuts that no frame follows do not pile up without end", () => {
  const cuts = new SegmentCuts();
  for (let msn = 1; msn <= 1000; msn++) cuts.add(msn, msn * 10);
  expect(cuts.at(7449)).toBe(null);
  expect(cuts.at(7450)?.msn).toBe(745);
  expect(cuts.at(10_000)?.msn).toBe(1000);
});
