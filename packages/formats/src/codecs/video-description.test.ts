import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { AV1, AVC, HEVC, HIGH_RANGE } from "./decoder-configs.fixture.ts";
import {
  avcParameterSets,
  describeAv1,
  describeAvc,
  describeHevc,
  rangeOfConfig,
  type VideoDescription,
} from "./index.ts";

const square = { bitDepth: 8, chroma: "4:2:0", nalLengthSize: 4, sampleAspect: null } as const;

test.each<[string, VideoDescription, Partial<VideoDescription>]>([
  [
    "AVC, 1088 lines cropped to 1080",
    describeAvc(AVC.high1080p),
    { ...square, codecString: "avc1.640028", width: 1920, height: 1080 },
  ],
  [
    "AVC, wide samples",
    describeAvc(AVC.anamorphicPal),
    { width: 720, height: 576, frameRate: 25, sampleAspect: [64, 45] },
  ],
  [
    "AVC, interlaced",
    describeAvc(AVC.interlaced1080i),
    { width: 1440, height: 1080, frameRate: 25, sampleAspect: [4, 3] },
  ],
  [
    "AVC, 4:2:2 and 10 bits",
    describeAvc(AVC.high422TenBit),
    { codecString: "avc1.7a0020", chroma: "4:2:2", bitDepth: 10, frameRate: 50 },
  ],
  [
    "AVC baseline",
    describeAvc(AVC.baseline360p),
    { ...square, codecString: "avc1.42c016", width: 640, height: 360, frameRate: 15 },
  ],
  [
    "HEVC, cropped",
    describeHevc(HEVC.main1080p),
    { ...square, codecString: "hvc1.1.6.L120.90", width: 1920, height: 1080, frameRate: null },
  ],
  [
    "HEVC, 10 bits",
    describeHevc(HEVC.main10At720p),
    { codecString: "hvc1.2.4.L93.90", width: 1280, height: 720, bitDepth: 10 },
  ],
  [
    "AV1",
    describeAv1(AV1.main360p),
    { ...square, codecString: "av01.0.01M.08", width: 640, height: 360, nalLengthSize: 0 },
  ],
  [
    "AV1, 10 bits",
    describeAv1(AV1.tenBit720p),
    { codecString: "av01.0.05M.10", width: 1280, height: 720, bitDepth: 10 },
  ],
])("%s is described as it was encoded", (_, described, expected) => {
  expect(described).toMatchObject(expected);
});

test("a frame rate with denominator 1001 is exact", () => {
  expect(describeAvc(AVC.high1080p).frameRate).toBeCloseTo(30_000 / 1001, 10);
});

test("the parameter sets of avcC are found", () => {
  const { sps, pps } = avcParameterSets(AVC.baseline360p);
  expect(sps.map((set) => [set[0], set.length])).toEqual([[0x67, 24]]);
  expect(pps.map((set) => [set[0], set.length])).toEqual([[0x68, 4]]);
});

test("a truncated VUI leaves the picture described", () => {
  const avcC = AVC.baseline360p;
  // avcC declares a 12-byte SPS at byte 8, which ends inside the VUI, and no PPS.
  const cut = Uint8Array.of(...avcC.subarray(0, 6), 0, 12, ...avcC.subarray(8, 20), 0);
  expect(describeAvc(cut)).toMatchObject({ width: 640, height: 360, frameRate: null });
});

test("a configuration without parameter sets is rejected with an offset", () => {
  expect(() => describeAvc(Uint8Array.of(1, 0x64, 0, 0x28, 0xff, 0xe0, 0))).toThrow(
    "expected a sequence parameter set in avcC at byte 6",
  );
  expect(() => describeAv1(Uint8Array.of(0x81, 0, 0, 0))).toThrow("expected a sequence header in av1C at byte 4");
});

const describers: readonly [string, (config: Uint8Array) => VideoDescription, readonly Uint8Array[]][] = [
  ["avcC", describeAvc, Object.values(AVC)],
  ["hvcC", describeHevc, Object.values(HEVC)],
  ["av1C", describeAv1, Object.values(AV1)],
];

test.each(describers)(
  "%s of arbitrary bytes is described within bounds or rejected with FormatError",
  (_, describe, seeds) => {
    const damaged = fc
      .tuple(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        fc.nat(300),
      )
      .map(([seed, changes, length]) => {
        const config = seed.slice(0, Math.max(1, length));
        for (const [index, value] of changes) config[index % config.length] = value;
        return config;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), damaged), (config) => {
        try {
          const { width, height, frameRate } = describe(config);
          expect(Math.min(width, height)).toBeGreaterThan(0);
          expect(Math.max(width, height)).toBeLessThanOrEqual(16_384);
          if (frameRate !== null) expect(frameRate).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      }),
      { numRuns: 2000 },
    );
  },
);

test.each([
  ["H.264", describeAvc(HIGH_RANGE.avcPq).range, "PQ"],
  ["H.265", describeHevc(HIGH_RANGE.hevcPq).range, "PQ"],
  ["H.265", describeHevc(HIGH_RANGE.hevcHlg).range, "HLG"],
  ["H.265 with 10 bits of BT.709", describeHevc(HIGH_RANGE.hevcSdr).range, "SDR"],
  ["H.265 that declares none", describeHevc(HEVC.main10At720p).range, "SDR"],
  ["AV1 that declares none", describeAv1(AV1.tenBit720p).range, "SDR"],
])("the range of %s is found", (_, range, expected) => {
  expect(range).toBe(expected);
});

test("a configuration that ends anywhere, or cannot be read, has standard range or none of high range is invented", () => {
  const { hevcPq } = HIGH_RANGE;
  for (let length = 0; length < hevcPq.length; length++)
    expect(["SDR", "PQ"]).toContain(rangeOfConfig("hevc", hevcPq.subarray(0, length)));
  expect(rangeOfConfig("avc", new Uint8Array())).toBe("SDR");
});
