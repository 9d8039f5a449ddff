import fc from "fast-check";
import { expect, test } from "vitest";
import { isIdrAccessUnit } from "./index.ts";

const nal = (...bytes: number[]): number[] => [0, 0, 0, bytes.length, ...bytes];
const obu = (type: number, ...payload: number[]): number[] => [(type << 3) | 2, payload.length, ...payload];

const TEMPORAL_DELIMITER = obu(2);
const SEQUENCE_HEADER = obu(1, 0, 0, 0);
const SHOWN_KEY_FRAME = 0b0001_0000;
const HIDDEN_KEY_FRAME = 0b0000_0000;
const SHOWN_INTER_FRAME = 0b0011_0000;

test.each<[string, "avc" | "hevc" | "av1", number[], boolean]>([
  ["AVC IDR", "avc", nal(0x65, 0x88), true],
  [
    "AVC IDR after delimiter, SPS, PPS and SEI",
    "avc",
    [...nal(9, 0xf0), ...nal(0x67, 1), ...nal(0x68, 1), ...nal(6, 5), ...nal(0x65, 1)],
    true,
  ],
  ["AVC recovery point, an open GOP", "avc", [...nal(6, 6, 1, 0x80), ...nal(0x61, 1)], false],
  ["AVC parameter sets alone", "avc", [...nal(0x67, 1), ...nal(0x68, 1)], false],
  ["HEVC IDR_W_RADL behind parameter sets", "hevc", [...nal(32 << 1, 1), ...nal(33 << 1, 1), ...nal(19 << 1, 1)], true],
  ["HEVC IDR_N_LP", "hevc", nal(20 << 1, 1), true],
  ["HEVC CRA, an open GOP", "hevc", nal(21 << 1, 1), false],
  ["HEVC trailing picture", "hevc", nal(1 << 1, 1), false],
  ["AV1 shown key frame", "av1", [...TEMPORAL_DELIMITER, ...SEQUENCE_HEADER, ...obu(6, SHOWN_KEY_FRAME)], true],
  ["AV1 key frame in a last OBU without size", "av1", [...SEQUENCE_HEADER, 6 << 3, SHOWN_KEY_FRAME], true],
  ["AV1 key frame without a sequence header", "av1", [...TEMPORAL_DELIMITER, ...obu(6, SHOWN_KEY_FRAME)], false],
  ["AV1 key frame that is not shown yet", "av1", [...SEQUENCE_HEADER, ...obu(6, HIDDEN_KEY_FRAME)], false],
  ["AV1 inter frame", "av1", [...SEQUENCE_HEADER, ...obu(3, SHOWN_INTER_FRAME)], false],
  ["nothing", "avc", [], false],
  ["a NAL unit length beyond the end", "avc", [0xff, 0xff, 0xff, 0xff, 0x67], false],
])("%s", (_, codec, bytes, expected) => {
  expect(isIdrAccessUnit(codec, Uint8Array.from(bytes))).toBe(expected);
});

test("arbitrary bytes never throw", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("avc" as const, "hevc" as const, "av1" as const),
      fc.uint8Array({ maxLength: 400 }),
      (codec, data) => {
        expect(typeof isIdrAccessUnit(codec, data)).toBe("boolean");
      },
    ),
  );
});
