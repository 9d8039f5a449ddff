import { DEFAULT_PROFILES, type RecordingSpec } from "@weir/contract";
import { expect, it } from "vitest";
import { profileNotInLadder, recordedProfiles } from "./recorded-profiles.ts";

const kept = (spec: RecordingSpec | null) => recordedProfiles(spec, DEFAULT_PROFILES).map(({ name }) => name);

it("a recording keeps the whole ladder, the source alone, or exactly what its spec names", () => {
  const all = DEFAULT_PROFILES.map(({ name }) => name);
  expect([kept(null), kept({}), kept({ profiles: null })]).toEqual([all, all, all]);
  expect(kept({ profiles: [] })).toEqual([]);
  expect(
    kept({ profiles: [{ bitrate: 800_000 }, { name: "720p0", bitrate: 3_000_000, height: 720, fps: 0 }] }),
  ).toEqual(["360p0", "720p0"]);
});

it.each([
  { name: "other", bitrate: 800_000 },
  { name: "360p0", bitrate: 900_000 },
  { bitrate: 800_000, width: 641 },
  { bitrate: 800_000, fps: 25 },
  { bitrate: 800_000, encoder: "HEVC" as const },
])("%j is none of the ladder", (profile) => {
  expect(kept({ profiles: [profile] })).toEqual([]);
  expect(profileNotInLadder({ profiles: [{ bitrate: 800_000 }, profile] }, DEFAULT_PROFILES)).toEqual(profile);
});
