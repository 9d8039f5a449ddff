import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { HEVC } from "./decoder-configs.fixture.ts";
import { hevcConfig, hevcParameterSets } from "./index.ts";

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
