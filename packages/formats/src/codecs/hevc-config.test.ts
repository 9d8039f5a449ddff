import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { HEVC, HIGH_RANGE } from "./decoder-configs.fixture.ts";
import { hevcConfig, hevcParameterSets, hevcReorderFrames } from "./index.ts";

const typeOf = ([header = 0]: Uint8Array) => (header >> 1) & 0x3f;

test.each(["main1080p", "main10At720p"] as const)(
  "the configuration of %s is the one that its encoder writes",
  (name) => {
    const sets = hevcParameterSets(HEVC[name]);
    const ofType = (type: number) => sets.filter((set) => typeOf(set) === type);
    expect(hevcConfig({ vps: ofType(32), sps: ofType(33), pps: ofType(34) })).toEqual(HEVC[name]);
  },
);

test("without a sequence parameter set there is no configuration", () => {
  expect(() => hevcConfig({ vps: [], sps: [], pps: [] })).toThrow(FormatError);
  expect(() => hevcConfig({ vps: [], sps: [new Uint8Array(40)], pps: [] })).toThrow(FormatError);
});

test.each([
  ["main1080p", HEVC.main1080p, 0],
  ["main10At720p", HEVC.main10At720p, 0],
  ["PQ", HIGH_RANGE.hevcPq, 2],
])("the reorder depth of %s is read from its configuration", (_, config, frames) => {
  expect(hevcReorderFrames(config)).toBe(frames);
  for (let length = 0; length < config.length; length++)
    try {
      expect(hevcReorderFrames(config.subarray(0, length))).toBe(frames);
    } catch (error) {
      expect(error).toBeInstanceOf(FormatError);
    }
});
