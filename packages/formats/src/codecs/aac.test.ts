import fc from "fast-check";
import { expect, test } from "vitest";
import { BitWriter, FormatError } from "../bits/index.ts";
import { describeAac, silentAacFrame } from "./index.ts";

const lc = { codecString: "mp4a.40.2", frameSamples: 1024 };

/** Packs fields, given as value and width, into one configuration. */
const config = (...fields: [number, number][]): Uint8Array => {
  const bits = new BitWriter();
  for (const [value, width] of fields) bits.bits(value, width);
  return bits.toBytes();
};

/** A configuration that lists this many channel pairs. */
const pairs = (count: number): Uint8Array =>
  config(
    ...([
      [2, 5],
      [3, 4],
      [0, 4],
      [0, 3],
      [0, 10],
      [count, 4],
      [0, 8],
      [0, 2],
      [0, 7],
      [0, 3],
    ] as [number, number][]),
    ...Array.from({ length: count }, (_, tag): [number, number] => [16 + tag, 5]),
    [0, 16],
  );

test.each<[string, Uint8Array, object]>([
  ["LC, 48 kHz stereo", Uint8Array.of(0x11, 0x90), { ...lc, sampleRate: 48_000, channels: 2 }],
  ["LC, 44.1 kHz mono", Uint8Array.of(0x12, 0x08), { ...lc, sampleRate: 44_100, channels: 1 }],
  ["LC, 5.1", Uint8Array.of(0x11, 0xb0), { ...lc, sampleRate: 48_000, channels: 6 }],
  ["LC, frames of 960", Uint8Array.of(0x11, 0x94), { ...lc, frameSamples: 960, sampleRate: 48_000, channels: 2 }],
  [
    "an escaped rate of 37.8 kHz",
    config([2, 5], [15, 4], [37_800, 24], [2, 4], [0, 3]),
    { ...lc, sampleRate: 37_800, channels: 2 },
  ],
  [
    "HE with SBR signalled first: the coded rate, not the doubled one",
    config([5, 5], [6, 4], [2, 4], [3, 4], [2, 5], [0, 3]),
    { codecString: "mp4a.40.5", sampleRate: 24_000, channels: 2, frameSamples: 1024 },
  ],
  [
    "HEv2 with parametric stereo: one coded channel",
    config([29, 5], [7, 4], [1, 4], [4, 4], [2, 5], [0, 3]),
    { codecString: "mp4a.40.29", sampleRate: 22_050, channels: 1 },
  ],
  [
    "HE signalled behind an LC configuration",
    config([2, 5], [6, 4], [2, 4], [0, 3], [0x2b7, 11], [5, 5], [1, 1], [3, 4]),
    { codecString: "mp4a.40.5", sampleRate: 24_000 },
  ],
  [
    "HEv2 signalled behind an LC configuration",
    config([2, 5], [6, 4], [1, 4], [0, 3], [0x2b7, 11], [5, 5], [1, 1], [3, 4], [0x548, 11], [1, 1]),
    { codecString: "mp4a.40.29", sampleRate: 24_000 },
  ],
  [
    "channels listed element by element",
    // One single element, one pair, one low-frequency element.
    config(
      [2, 5],
      [3, 4],
      [0, 4],
      [0, 3],
      [0, 10],
      [2, 4],
      [0, 8],
      [1, 2],
      [0, 7],
      [0, 3],
      [0, 5],
      [17, 5],
      [0, 4],
      [0, 8],
      [0, 8],
    ),
    { ...lc, sampleRate: 48_000, channels: 4 },
  ],
  ["eight channels listed as pairs", pairs(4), { ...lc, sampleRate: 48_000, channels: 8 }],
])("%s", (_, bytes, expected) => {
  expect(describeAac(bytes)).toMatchObject(expected);
});

test.each<[string, Uint8Array, string]>([
  ["an empty configuration", new Uint8Array(), "5 more bits"],
  ["a reserved rate", config([2, 5], [13, 4], [2, 4], [0, 3]), "sampling frequency"],
  ["a codec that is not AAC", config([31, 5], [4, 6], [3, 4], [2, 4], [0, 3]), "AAC object type, not 36"],
  ["a reserved channel configuration", config([2, 5], [3, 4], [15, 4], [0, 3]), "channel configuration"],
  ["a list of ten channels", pairs(5), "1 to 8 channels"],
])("%s is rejected", (_, bytes, reason) => {
  expect(() => describeAac(bytes)).toThrow(FormatError);
  expect(() => describeAac(bytes)).toThrow(reason);
});

test("arbitrary bytes are either described, with channels that a silent frame can have, or rejected with FormatError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      try {
        expect(silentAacFrame(describeAac(bytes).channels).length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a silent frame takes a few bytes; unknown channel layouts are rejected", () => {
  expect(silentAacFrame(1).length).toBeLessThan(8);
  expect(silentAacFrame(2).length).toBeLessThan(8);
  expect(() => silentAacFrame(0)).toThrow(RangeError);
  expect(() => silentAacFrame(9)).toThrow(RangeError);
});
