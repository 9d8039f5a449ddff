import { DEFAULT_PROFILES, type RecordingSpec } from "@weir/contract";
import { expect, it } from "vitest";
import { recordedProfiles } from "./recorded-profiles.ts";

const kept = (spec: RecordingSpec | null) => recordedProfiles(spec, DEFAULT_PROFILES).map(({ name }) => name);

it("a recording keeps the whole ladder, the source alone, or the rungs that its spec names", () => {
  const all = DEFAULT_PROFILES.map(({ name }) => name);
  expect([kept(null), kept({}), kept({ profiles: null })]).toEqual([all, all, all]);
  expect(kept({ profiles: [] })).toEqual([]);
  expect(kept({ profiles: [{ name: "720p0", bitrate: 1 }, { bitrate: 800_000 }] })).toEqual(["360p0", "720p0"]);
});

it.each([
  [{ name: "low", bitrate: 900_000 }, "360p0"],
  [{ name: "high", bitrate: 6_000_000, width: 1920, height: 1080 }, "720p0"],
  [{ bitrate: 800_000, height: 480 }, "480p0"],
  [{ bitrate: 200_000, encoder: "VP9" as const, fps: 25 }, "240p0"],
])("for %j, which the ladder does not make, it keeps %s, which is closest", (profile, rung) => {
  expect(kept({ profiles: [profile] })).toEqual([rung]);
});

it("a stream without a ladder records the source alone", () => {
  expect(recordedProfiles({ profiles: [{ bitrate: 800_000 }] }, [])).toEqual([]);
});
