import { describe, expect, it } from "vitest";
import { AVC, AVC_WITH_B_FRAMES } from "./decoder-configs.fixture.ts";
import { avcConfig, avcParameterSets, avcReorderFrames, describeAvc, splitParameterSets } from "./index.ts";

const units = (...list: readonly (readonly number[])[]): Uint8Array =>
  Uint8Array.from(list.flatMap((unit) => [0, 0, 0, unit.length, ...unit]));

describe("splitting parameter sets from an access unit", () => {
  it("removes parameter sets and delimiters", () => {
    const split = splitParameterSets(units([9, 0xf0], [0x67, 1], [0x68, 2], [6, 5], [0x65, 3], [0x67, 4]));
    expect(split).toEqual({
      sps: Uint8Array.of(0x67, 4),
      pps: Uint8Array.of(0x68, 2),
      picture: units([6, 5], [0x65, 3]),
    });
  });

  it("stops at a length that exceeds the data", () => {
    expect(splitParameterSets(Uint8Array.of(...units([0x65, 3]), 0, 0, 1, 0, 1)).picture).toEqual(units([0x65, 3]));
    expect(splitParameterSets(new Uint8Array())).toEqual({ sps: null, pps: null, picture: new Uint8Array() });
  });

  it.each(["baseline360p", "high1080p"] as const)(
    "yields the decoder configuration that an encoder writes: %s",
    (name) => {
      const { sps, pps } = avcParameterSets(AVC[name]);
      const config = avcConfig(sps[0] ?? new Uint8Array(), pps[0] ?? new Uint8Array());
      expect(config).toEqual(AVC[name]);
      expect(describeAvc(config)).toEqual(describeAvc(AVC[name]));
    },
  );
});

it.each([
  ["baseline", AVC.baseline360p, 0],
  ["high without B-frames", AVC.high1080p, 0],
  ["B-frames", AVC_WITH_B_FRAMES, 2],
  ["a VUI that is cut short", Uint8Array.from(AVC_WITH_B_FRAMES).fill(0, 26, 31), null],
])("the reorder depth of %s is read from its configuration", (_, config, frames) => {
  expect(avcReorderFrames(config)).toBe(frames);
});

it("a configuration declares the chroma format and bit depth of its sets, and has all of them", () => {
  const { sps, pps } = avcParameterSets(AVC.high422TenBit);
  const config = avcConfig(sps, [...pps, Uint8Array.of(0x68, 1)]);
  expect(avcParameterSets(config)).toEqual({ sps, pps: [...pps, Uint8Array.of(0x68, 1)] });
  expect(avcConfig(sps, pps)).toEqual(AVC.high422TenBit);
});
