import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { PageMemory } from "../../page-memory.ts";
import { LiveRendition } from "../live-rendition.ts";
import { LiveSegment } from "../live-segment.ts";
import { PartTarget } from "../part-target.ts";
import { LivePlaylist } from "./live-playlist.ts";

test("of a rung that has nothing yet after a restart, numbers do not fall", () => {
  const rendition = new LiveRendition("v0", 3, { seconds: 2 }, new ManualClock(0));
  const playlist = new LivePlaylist(rendition, new PartTarget(), () => [rendition]);
  const number = () => Number(/MEDIA-SEQUENCE:(\d+)/.exec(playlist.text())?.[1]);
  rendition.expect(5001);
  const numbers = [number()];
  const where = { msn: 5001, timescale: 90_000, startTicks: 0, programDateTimeMs: 0, discontinuity: true, init: null };
  rendition.begin(new LiveSegment(where, new PageMemory()));
  const timing = { durationTicks: 30_000, lateTicks: 0, frames: 10, isIndependent: true };
  rendition.publish([new Uint8Array(10)], timing);
  numbers.push(number());
  rendition.complete();
  numbers.push(number());
  expect(numbers[0]).toBeGreaterThanOrEqual(5000);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
});
