import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { PageMemory } from "../page-memory.ts";
import { LiveRendition } from "./live-rendition.ts";
import { LiveSegment } from "./live-segment.ts";

test("delisted segments are released in time, even if no segment follows", () => {
  const clock = new ManualClock(0);
  const memory = new PageMemory();
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, clock);
  for (let msn = 1; msn <= 10; msn++) {
    const place = { timescale: 1, startTicks: msn * 2, programDateTimeMs: 0, discontinuity: false, init: null };
    rendition.begin(new LiveSegment({ msn, ...place }, memory));
    rendition.publish([new Uint8Array(10)], { durationTicks: 2, lateTicks: 0, frames: 1, isIndependent: true });
    rendition.complete();
  }
  // Its own 2 s, and those of the longest list that had it.
  clock.advance(15_999);
  expect(memory.pagesInUse).toBe(10);
  clock.advance(1);
  expect(memory.pagesInUse).toBe(6);
  expect(rendition.segment(4)).toBeUndefined();
  expect(rendition.listed.map(({ msn }) => msn)).toEqual([5, 6, 7, 8, 9, 10]);
});

test("one picture behind which the source was lost is not taken for the bitrate of the stream", () => {
  const rendition = new LiveRendition("source", 0, { seconds: 2 }, new ManualClock(0));
  const list = (msn: number, bytes: number, milliseconds: number): void => {
    const place = { timescale: 1000, startTicks: 0, programDateTimeMs: 0, discontinuity: false, init: null };
    rendition.begin(new LiveSegment({ msn, ...place }, new PageMemory()));
    const timing = { durationTicks: milliseconds, lateTicks: 0, frames: 1, isIndependent: true };
    rendition.publish([new Uint8Array(bytes)], timing);
    rendition.complete();
  };
  list(1, 500_000, 2000);
  list(2, 100_000, 40);
  expect(rendition.peakBps).toBeCloseTo((600_000 * 8) / 2.04);
  // Short segments in a row are as much as one of usual length.
  for (let msn = 3; msn < 8; msn++) list(msn, 125_000, 250);
  expect(rendition.peakBps).toBe(4_000_000);
});
