import fc from "fast-check";
import { expect, test } from "vitest";
import { opusPacketSamples, SILENT_OPUS_PACKET } from "./index.ts";

const toc = (configuration: number, code: number) => (configuration << 3) | code;

test.each<[string, number[], number]>([
  ["SILK, 10 ms", [toc(0, 0)], 480],
  ["SILK, 60 ms", [toc(11, 0)], 2880],
  ["hybrid, 20 ms", [toc(15, 0)], 960],
  ["CELT, 2.5 ms", [toc(16, 0)], 120],
  ["CELT, 20 ms", [toc(31, 0)], 960],
  ["two frames of one size", [toc(31, 1)], 1920],
  ["two frames of two sizes", [toc(30, 2)], 960],
  ["48 frames of 2.5 ms, the longest packet", [toc(16, 3), 48], 5760],
  ["a count with flags for padding and size", [toc(31, 3), 0xc3], 2880],
  ["nothing", [], 0],
  ["a count that is cut off", [toc(31, 3)], 0],
  ["more than 120 ms", [toc(31, 3), 7], 0],
])("%s", (_, bytes, samples) => {
  expect(opusPacketSamples(Uint8Array.from(bytes))).toBe(samples);
});

test("silence lasts 20 ms", () => {
  expect(opusPacketSamples(SILENT_OPUS_PACKET)).toBe(960);
});

test("arbitrary bytes never last longer than the maximum packet duration", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const samples = opusPacketSamples(bytes);
      expect(samples % 120).toBe(0);
      expect(samples).toBeLessThanOrEqual(5760);
    }),
  );
});
