import { expect, test } from "vitest";
import { PAGE_BYTES, PageMemory } from "../page-memory.ts";
import { LiveSegment } from "./live-segment.ts";

test("a segment's memory is freed with its last release", () => {
  const memory = new PageMemory();
  const place = { msn: 1, timescale: 90_000, startTicks: 0, programDateTimeMs: 0, discontinuity: false, init: null };
  const segment = new LiveSegment(place, memory);
  const part = (bytes: number, fill: number) =>
    segment.add([new Uint8Array(bytes).fill(fill)], { durationTicks: 1, lateTicks: 0, frames: 1, isIndependent: true });
  part(PAGE_BYTES + 10, 1);
  part(10, 2);
  expect(segment.parts.map(({ views }) => views.map((view) => [view.byteLength, view[0]]))).toEqual([
    [[PAGE_BYTES + 10, 1]],
    [[10, 2]],
  ]);
  expect(segment.views.map((view) => view.byteLength)).toEqual([PAGE_BYTES + 20]);
  segment.retain();
  segment.release();
  expect(memory.pagesInUse).toBe(2);
  segment.release();
  expect(memory.pagesInUse).toBe(0);
});
