import { expect, test } from "vitest";
import type { MediaIndex, StoredSegment } from "../../ports/index.ts";
import { renditionFor } from "./stored-keyframes.ts";
import { sheetsOf, storyboardOf, storyboardText } from "./storyboard.ts";

const TIMESCALE = 90_000;

function media(seconds: number, size: { width?: number; height?: number } = { width: 1920, height: 1080 }): MediaIndex {
  const durationTicks = 2 * TIMESCALE;
  const segments = Array.from(
    { length: seconds / 2 },
    (_, msn) => ({ msn, startTicks: msn * durationTicks, durationTicks, gap: false }) as StoredSegment,
  );
  const track = { kind: "video", codec: "avc", config: "", timescale: TIMESCALE, codecString: "", ...size } as const;
  return {
    ...{ id: "1", projectId: "1", keyPrefix: "" },
    renditions: [{ rendition: "source", track, segments, spanBytes: new Map() }],
  };
}

const boardOf = (index: MediaIndex) => {
  const board = storyboardOf(index);
  if (!board) throw new Error("no storyboard");
  return board;
};

test.each([
  ["a minute", 60, 30, 1],
  ["eight minutes", 480, 100, 1],
  ["an hour", 3_600, 720, 8],
  ["twelve hours", 43_200, 1_000, 10],
])("a storyboard of %s has a picture every few seconds, in few sheets", (_length, seconds, pictures, sheets) => {
  const board = boardOf(media(seconds));
  expect([board.starts.length, sheetsOf(board), board.endSeconds]).toEqual([pictures, sheets, seconds]);
});

test("pictures fill rows, then sheets", () => {
  const text = storyboardText(boardOf(media(3_600)), "");
  const places = text.match(/storyboard.*/g) ?? [];
  expect([places[9], places[10], places[99], places[100]]).toEqual([
    "storyboard_0.jpg#xywh=1440,0,160,90",
    "storyboard_0.jpg#xywh=0,90,160,90",
    "storyboard_0.jpg#xywh=1440,810,160,90",
    "storyboard_1.jpg#xywh=0,0,160,90",
  ]);
});

test.each([
  ["upright", { width: 720, height: 1280 }, { width: 90, height: 160 }],
  ["square", { width: 500, height: 500 }, { width: 160, height: 160 }],
  ["unknown", {}, { width: 160, height: 90 }],
])("tiles of a video that is %s have its aspect ratio", (_shape, size, tile) => {
  expect(boardOf(media(60, size)).tile).toEqual(tile);
});

test("images come from the smallest rendition, from the next one if it was paused for long", () => {
  const [source] = media(120).renditions;
  if (!source) throw new Error("no source");
  const rung = (lacks: number) => ({
    ...source,
    rendition: "v0",
    track: { ...source.track, width: 426 },
    segments: source.segments.map((segment) => ({ ...segment, gap: segment.msn < lacks })),
  });
  const chosen = (lacks: number) => renditionFor({ ...media(120), renditions: [source, rung(lacks)] }, 0)?.rendition;
  expect([0, 3, 4].map(chosen)).toEqual(["v0", "v0", "source"]);
  // A slate is in no recording of any rendition.
  const isSlate = (msn: number) => msn > 20 && msn < 40;
  const withSlate = [source, rung(0)].map((one) => ({
    ...one,
    segments: one.segments.map((segment) => ({ ...segment, gap: isSlate(segment.msn) })),
  }));
  expect(renditionFor({ ...media(120), renditions: withSlate }, 0)?.rendition).toBe("v0");
});
