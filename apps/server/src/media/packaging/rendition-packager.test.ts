import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Payload } from "../packet.ts";
import { PageMemory } from "../page-memory.ts";
import { VIDEO } from "../testing/synthetic-source.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import { initOfTrack } from "./init-of-track.ts";
import { LiveRendition } from "./live-rendition.ts";
import { PartTarget } from "./part-target.ts";
import { RenditionPackager } from "./rendition-packager.ts";

const SECOND = 90_000;
const FRAME = SECOND / 30;

function rung() {
  const rendition = new LiveRendition("360p", 0, { seconds: 2 }, new ManualClock(0));
  const packager = new RenditionPackager(rendition, "rung", new PartTarget(), new PageMemory(), () => {});
  packager.useInit(initOfTrack(VIDEO));
  const cut = (msn: number): Cut => ({
    msn,
    ticks: (msn - 1) * 2 * SECOND,
    programDateTimeMs: 0,
    discontinuity: false,
    byVideo: true,
  });
  const frame = (number: number): Sample => ({
    trackId: 0,
    kind: "video",
    time: number * FRAME,
    decodeTime: number * FRAME,
    duration: FRAME,
    isIndependent: number % 60 === 0,
    data: new Payload(new Uint8Array(100)),
  });
  return { rendition, packager, cut, frame };
}

test("the last part of a rung's segment closes it, and the next part is the first of the next segment", () => {
  const { rendition, packager, cut, frame } = rung();
  packager.cut(cut(1));
  packager.cut(cut(2));
  for (let number = 0; number < 59; number++) packager.sample(frame(number));
  expect(rendition.nextPart).toEqual({ msn: 1, part: 5 });
  packager.sample(frame(59));
  expect(rendition.listed.map(({ msn, parts }) => [msn, parts.length])).toEqual([[1, 6]]);
  expect(rendition.nextPart).toEqual({ msn: 2, part: 0 });
});

test("a lost rung announces no next part until it returns", () => {
  const { rendition, packager, cut, frame } = rung();
  packager.cut(cut(1));
  packager.sample(frame(0));
  packager.cut(cut(2));
  packager.lose();
  expect(rendition.nextPart).toBe(null);
  packager.cut(cut(3));
  expect(rendition.nextPart).toBe(null);
  packager.regain();
  packager.cut(cut(4));
  expect(rendition.nextPart?.msn).toBe(3);
});

test("video that stopped while audio continues announces no next part until its next picture", () => {
  const { rendition, packager, cut, frame } = rung();
  packager.cut(cut(1));
  for (let number = 0; number < 60; number++) packager.sample(frame(number));
  packager.cut({ ...cut(2), byVideo: false });
  expect(rendition.nextPart).toBe(null);
  packager.cut({ ...cut(3), byVideo: false });
  packager.cut(cut(4));
  for (let number = 180; number < 190; number++) packager.sample(frame(number));
  expect(rendition.nextPart).toEqual({ msn: 4, part: 1 });
});

test("pictures that come late and at another time than expected: parts keep their times, and the segment lasts as long as they do", () => {
  const { rendition, packager, cut, frame } = rung();
  packager.cut(cut(1));
  packager.cut(cut(2));
  // The tenth picture was released with a guess, and its part published. The eleventh came 3 ms later than guessed, the 21st 1 ms earlier.
  const offsets = [0, 270, 180];
  for (let number = 0; number < 30; number++) {
    const late = offsets[Math.floor(number / 10)] ?? 0;
    const { time, ...sample } = frame(number);
    packager.sample({ ...sample, time: time + late, decodeTime: time + late });
  }
  const { open } = rendition;
  expect(open?.parts.map(({ durationTicks, lateTicks }) => [durationTicks, lateTicks])).toEqual([
    [10 * FRAME, 0],
    [10 * FRAME, 270],
    [10 * FRAME, -90],
  ]);
  expect(open?.durationTicks).toBe(30 * FRAME + 180);
});
