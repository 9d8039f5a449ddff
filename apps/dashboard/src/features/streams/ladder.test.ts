import { DEFAULT_PROFILES, type Profile } from "@weir/contract";
import { expect, test } from "vitest";
import {
  isValid,
  type Ladder,
  ladderOf,
  problemsOf,
  profilesOf,
  wantedProfiles,
  withNewRung,
  withoutRung,
  withPreset,
  withRung,
} from "./ladder.ts";

const odd: Profile = {
  name: "broadcast",
  width: 1024,
  height: 576,
  bitrate: 1_234_500,
  fps: 30_000,
  fpsDen: 1001,
  quality: 23,
  gop: "2.0",
  profile: "H264High",
};

test.each([
  ["default", DEFAULT_PROFILES],
  ["none", []],
  ["custom", [odd]],
  ["custom", DEFAULT_PROFILES.slice(1)],
] as const)("a stream's profiles are shown as %s and come back as they were", (preset, profiles) => {
  const ladder = ladderOf(profiles);
  expect([ladder.preset, profilesOf(ladder)]).toEqual([preset, profiles]);
});

test("the documented ladder is known in whatever order its fields come", () => {
  const shuffled = DEFAULT_PROFILES.map(({ name, ...rest }) => ({ ...rest, name }));
  expect(ladderOf(shuffled).preset).toBe("default");
});

test("a profile with a setting that the editor does not show is not taken for a preset, and keeps it when edited", () => {
  const ladder = ladderOf([{ ...odd }]);
  const [edited] = profilesOf(withRung(ladder, 0, { fps: "25", width: " 640 " }));
  const { fpsDen: _, ...rest } = odd;
  expect(edited).toEqual({ ...rest, fps: 25, width: 640 });
});

test("the default ladder is asked for as null, so that it is the server's", () => {
  expect([wantedProfiles(ladderOf(DEFAULT_PROFILES)), wantedProfiles(ladderOf([]))]).toEqual([null, []]);
});

test("custom begins with what was there, and with one rung when nothing was", () => {
  expect(profilesOf(withPreset(ladderOf(DEFAULT_PROFILES), "custom"))).toEqual(DEFAULT_PROFILES);
  expect(profilesOf(withPreset(ladderOf([]), "custom"))).toHaveLength(1);
});

test("rungs come and go, each under a key of its own", () => {
  const grown = withNewRung(withNewRung(withoutRung(ladderOf(DEFAULT_PROFILES), 0)));
  const custom: Ladder = { ...grown, preset: "custom" };
  expect(new Set(custom.rungs.map(({ key }) => key)).size).toBe(5);
  expect(isValid(custom)).toBe(false);
});

test.each([
  [{ name: " " }, { name: "name" }],
  [{ name: "source" }, { name: "source" }],
  [{ name: "240p0" }, { name: "twice" }],
  [{ name: "x".repeat(501) }, { name: "name" }],
  [
    { width: "127", height: "12.5" },
    { width: "size", height: "size" },
  ],
  [{ bitrate: "0.3" }, { bitrate: "bitrate" }],
  [{ bitrate: "1e6" }, { bitrate: "bitrate" }],
  [{ fps: "29.97" }, { fps: "fps" }],
  [{ fps: "30/0" }, { fps: "fps" }],
  [
    { fps: "-1", bitrate: "" },
    { fps: "fps", bitrate: "bitrate" },
  ],
  [{ width: "128", height: "128", bitrate: "0.4", fps: "60000/1001" }, {}],
] as const)("a rung with %j has the problems %j", (change, problems) => {
  const ladder = withRung(withPreset(ladderOf(DEFAULT_PROFILES), "custom"), 3, change);
  expect(problemsOf(ladder)).toEqual([{}, {}, {}, problems]);
  expect(isValid(ladder)).toBe(Object.keys(problems).length === 0);
});
