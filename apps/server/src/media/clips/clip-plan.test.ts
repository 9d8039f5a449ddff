import { expect, test } from "vitest";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import { planClip } from "./clip-plan.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
/** Ten segments of two seconds. */
const TWO_SECONDS = 2;

function rendition(name: string, kind: "video" | "audio", timescale: number): StoredRendition {
  const segments = Array.from({ length: 10 }, (_, n) => segmentAt(n + 1, n * TWO_SECONDS, timescale));
  const codec = kind === "video" ? "avc" : "aac";
  return {
    rendition: name,
    track: { kind, codec, config: "", timescale, codecString: "" },
    segments,
    spanBytes: new Map(),
  };
}

function segmentAt(msn: number, startSeconds: number, timescale: number): StoredSegment {
  return {
    ...{ msn, epoch: 1, startTicks: startSeconds * timescale, durationTicks: TWO_SECONDS * timescale },
    ...{ programDateTimeMs: NOON + startSeconds * 1000, discontinuity: false, gap: false },
    ...{ init: "init.mp4", span: "1.m4s", offset: 0, length: 100 },
  };
}

const index = (...renditions: StoredRendition[]): MediaIndex => ({
  id: "1",
  projectId: "1",
  keyPrefix: "",
  renditions,
});
const both = index(rendition("source", "video", 90_000), rendition("audio", "audio", 48_000));
const at = (seconds: number) => NOON + seconds * 1000;
const pieces = (plan: ReturnType<typeof planClip>) =>
  plan?.tracks.map(({ rendition: { rendition: name, track }, pieces }) => [
    name,
    pieces.map(({ msn, segment, fromTicks, toTicks, isWhole }) => [
      ...[msn, segment.msn, fromTicks / track.timescale, toTicks / track.timescale, isWhole],
    ]),
  ]);

test("edge segments are cut, segments between them are whole", () => {
  const parts = [
    [1, 2, 3.5, 4, false],
    [2, 3, 4, 6, true],
    [3, 4, 6, 6.5, false],
  ];
  expect(pieces(planClip(both, at(3.5), at(6.5)))).toEqual([
    ["source", parts],
    ["audio", parts],
  ]);
});

test("a clip inside one segment is one piece, and a clip of exactly one segment takes it whole", () => {
  expect(pieces(planClip(both, at(2.5), at(3)))?.[0]).toEqual(["source", [[1, 2, 2.5, 3, false]]]);
  expect(pieces(planClip(both, at(2), at(4)))?.[0]).toEqual(["source", [[1, 2, 2, 4, true]]]);
});

test("a clip that starts before the media or ends after it has the existing media", () => {
  const plan = planClip(both, at(-100), at(100));
  expect([plan?.fromSeconds, plan?.toSeconds, plan?.tracks[0]?.pieces.every(({ isWhole }) => isWhole)]).toEqual([
    ...[0, 20, true],
  ]);
});

test.each([
  ["before the media", -10, -5],
  ["after the media", 20, 30],
  ["of no length", 5, 5],
])("there is no media in a clip %s", (_situation, from, to) => {
  expect(planClip(both, at(from), at(to))).toBeNull();
});

test("a clip that starts in a gap starts after it", () => {
  const video = rendition("source", "video", 90_000);
  const holed = { ...video, segments: video.segments.filter(({ msn }) => msn !== 3 && msn !== 4) };
  expect(pieces(planClip(index(holed), at(5), at(9)))).toEqual([["source", [[1, 5, 8, 9, false]]]]);
});

test("a clip leaves out what the parent has no media for, in every rendition by the same time", () => {
  const isSlate = ({ msn }: StoredSegment) => msn >= 4 && msn <= 6;
  const gaps = both.renditions.map((one) => ({
    ...one,
    segments: one.segments.map((segment) => ({ ...segment, gap: isSlate(segment) })),
  }));
  const holes = both.renditions.map((one) => ({ ...one, segments: one.segments.filter((each) => !isSlate(each)) }));
  // The last sound before reaches 20 ms into the hole.
  const [, sound] = holes;
  const last = sound?.segments.find(({ msn }) => msn === 3);
  Object.assign(sound ?? {}, {
    segments: sound?.segments.map((each) => (each === last ? { ...each, durationTicks: 2.02 * 48_000 } : each)),
  });
  for (const [renditions, skipped] of [
    [gaps, 6],
    [holes, 5.98],
  ] as const) {
    const plan = planClip(index(...renditions), at(3), at(15));
    expect(plan?.skippedSeconds).toBeCloseTo(skipped, 5);
    for (const { pieces: found } of plan?.tracks ?? []) {
      expect(found.map(({ msn, segment }) => [msn, segment.msn])).toEqual([
        [1, 2],
        [2, 3],
        [3, 7],
        [4, 8],
      ]);
      expect(found.map(({ skippedSeconds }) => Math.round(skippedSeconds * 100) / 100)).toEqual([
        ...[0, 0, skipped, skipped],
      ]);
    }
  }
});

test("a rung that was paused during the clip is left out, one that was paused before it is not", () => {
  const rung = rendition("v0", "video", 90_000);
  const segments = rung.segments.map((segment) => ({ ...segment, gap: segment.msn === 3 }));
  const paused = index(...both.renditions, { ...rung, segments });
  const names = (from: number, to: number) =>
    planClip(paused, at(from), at(to))?.tracks.map((track) => track.rendition.rendition);
  expect(names(1, 9)).toEqual(["source", "audio"]);
  expect(names(7, 9)).toEqual(["source", "audio", "v0"]);
});

test("if the clock was set back, the later stretch is used", () => {
  const video = rendition("source", "video", 90_000);
  const setBack = video.segments.map((segment) =>
    segment.msn > 5 ? { ...segment, programDateTimeMs: segment.programDateTimeMs - 6_000 } : segment,
  );
  const plan = planClip(index({ ...video, segments: setBack }), at(5), at(7));
  expect(pieces(plan)?.[0]).toEqual([
    "source",
    [
      [1, 6, 11, 12, false],
      [2, 7, 12, 13, false],
    ],
  ]);
});
