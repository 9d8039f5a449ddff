import { expect, test } from "vitest";
import type { LadderProfile } from "../../ports/index.ts";
import { VIDEO } from "../testing/synthetic-source.ts";
import { planLadder } from "./ladder-plan.ts";

const profile = (height: number, more: Partial<LadderProfile> = {}): LadderProfile => ({
  name: `${height}p`,
  width: Math.round((height * 16) / 9),
  height,
  bitrate: height * 2000,
  fps: 0,
  ...more,
});

const sizes = (profiles: LadderProfile[], isDefault: boolean, width: number, height: number) =>
  planLadder(profiles, isDefault, { ...VIDEO, width, height }).map((rung) => `${rung.id} ${rung.width}x${rung.height}`);

test("a default ladder has only rungs smaller than the source, largest first", () => {
  expect(sizes([profile(240), profile(360), profile(480), profile(720)], true, 854, 480)).toEqual([
    "v0 640x360",
    "v1 428x240",
  ]);
});

test("requested rungs are encoded as requested, even if larger than the source", () => {
  expect(sizes([profile(720)], false, 640, 360)).toEqual(["v0 1280x720"]);
});

test("a portrait source keeps its aspect ratio, with the profile's height as its short side", () => {
  expect(sizes([profile(360)], false, 1080, 1920)).toEqual(["v0 360x640"]);
});

test("odd dimensions become even", () => {
  expect(sizes([profile(240)], false, 853, 479)).toEqual(["v0 428x240"]);
});

test.each([
  ["a wide source keeps within the width of its profile", 2560, 1080, ["v0 1280x540", "v1 640x270"]],
  ["a source of 4:3 keeps within the height", 1440, 1080, ["v0 960x720", "v1 480x360"]],
])("%s", (_what, width, height, rungs) => {
  expect(sizes([profile(720), profile(360)], true, width, height)).toEqual(rungs);
});

test("twelve profiles give twelve rungs, including the smallest", () => {
  const profiles = Array.from({ length: 12 }, (_, index) => profile(144 + index * 32));
  const rungs = planLadder(profiles, false, { ...VIDEO, width: 1920, height: 1080 });
  expect(rungs.map(({ name }) => name)).toEqual(profiles.map(({ name }) => name).toReversed());
});

test.each([
  ["2.5", 2.5],
  ["intra", 0],
  [undefined, null],
])("a gop of %s means %s seconds between keyframes", (gop, seconds) => {
  const [rung] = planLadder([profile(360, gop === undefined ? {} : { gop })], false, VIDEO);
  expect(rung?.keyframeSeconds).toBe(seconds);
});

test.each<[Partial<LadderProfile>, string]>([
  [{}, "avc1.4d401f"],
  [{ fps: 30 }, "avc1.4d401e"],
  [{ fps: 30, profile: "H264Baseline" }, "avc1.42c01e"],
  [{ fps: 30, profile: "H264High" }, "avc1.64001e"],
])("360p with %o is listed as %s", (more, codecString) => {
  expect(planLadder([profile(360, more)], false, { ...VIDEO, width: 1280, height: 720 })[0]?.codecString).toBe(
    codecString,
  );
});
