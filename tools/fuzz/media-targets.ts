import { readFileSync } from "node:fs";
import { BitReader } from "@weir/formats/bits";
import {
  avcParameterSets,
  avcReorderFrames,
  describeAac,
  describeAv1,
  describeAvc,
  describeHevc,
  hevcParameterSets,
  hevcReorderFrames,
  isIdrAccessUnit,
  lengthPrefixed,
  lengthPrefixedToAnnexB,
  opusPacketSamples,
  rangeOfConfig,
  readAacConfig,
  SILENT_OPUS_PACKET,
  splitParameterSets,
  withoutAvcMessages,
  x264KeyframeInterval,
} from "@weir/formats/codecs";
import { Mp4Reader } from "@weir/formats/mp4";
import { PictureReader, TsReader } from "@weir/formats/ts";
import {
  AV1,
  AVC,
  AVC_WITH_B_FRAMES,
  HEVC,
  HIGH_RANGE,
} from "../../packages/formats/src/codecs/decoder-configs.fixture.ts";
import { type FuzzTarget, holds, MAX_INPUT_BYTES } from "./fuzz-target.ts";
import { readInPieces } from "./read-in-pieces.ts";

const sample = (path: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`../../packages/formats/src/${path}`, import.meta.url))).subarray(
    0,
    MAX_INPUT_BYTES,
  );

const AAC_CONFIGS = [Uint8Array.of(0x12, 0x10), Uint8Array.of(0x2b, 0x92, 0x08, 0x00)];
const avcPicture = lengthPrefixed([
  Uint8Array.of(0x67, 0x42, 0xc0, 0x16, 0xda, 0x02, 0x80),
  Uint8Array.of(0x68, 0xce, 0x0f, 0xc8),
  Uint8Array.of(0x06, 0x05, 4, 1, 2, 3, 4, 0x80),
  Uint8Array.of(0x65, 0x88, 0x84, 0x00, 0x33),
]);
const avcUnits = avcParameterSets(AVC.high1080p);
const startCode = Uint8Array.of(0, 0, 0, 1);
const annexB = (...units: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(Buffer.concat(units.flatMap((unit) => [startCode, unit])));

/** What a reader may allocate for an input: every byte is copied a few times at most. */
const mostFor = (input: Uint8Array): number => 1_000_000 + 64 * input.length;

function counting(input: Uint8Array): (bytes: number) => Uint8Array {
  let allocated = 0;
  return (bytes) => {
    allocated += bytes;
    holds(allocated <= mostFor(input), "memory follows what arrived");
    return new Uint8Array(bytes);
  };
}

export const MEDIA_TARGETS: readonly FuzzTarget[] = [
  {
    name: "ts",
    seeds: ["avc-adts", "hevc-latm", "avc-opus", "mp2", "ac3", "two-languages"].map((name) =>
      sample(`ts/corpus/${name}.m2t`).subarray(0, 188 * 24),
    ),
    read(input) {
      readInPieces(input, () => {
        const read: string[] = [];
        const reader = new TsReader(
          {
            track: ({ kind, codec, config }) => void read.push(`${kind} ${codec} ${config.length}`),
            frame: ({ kind, presentation, decode, data }) =>
              void read.push(`${kind} ${presentation} ${decode} ${data.length}`),
            unsupported: (medium, name) => void read.push(`${medium} ${name}`),
          },
          counting(input),
        );
        return { read, push: (bytes) => reader.push(bytes) };
      });
    },
  },
  {
    name: "mp4",
    seeds: ["index-first", "index-last", "fragments", "sound", "video"].map((name) => sample(`mp4/corpus/${name}.mp4`)),
    words: [
      "moov",
      "moof",
      "mdat",
      "trak",
      "stsd",
      "stts",
      "ctts",
      "stsc",
      "stsz",
      "stz2",
      "stco",
      "co64",
      "trun",
      "tfhd",
      "elst",
    ],
    read(input) {
      readInPieces(input, () => {
        const read: string[] = [];
        const reader = new Mp4Reader(
          {
            others: () => {},
            track: ({ kind }) => void read.push(kind),
            frame: ({ kind, decode, data }) => void read.push(`${kind} ${decode} ${data.length}`),
            apart: () => void read.push("apart"),
          },
          counting(input),
        );
        return { read, push: (bytes) => reader.push(bytes) };
      });
    },
  },
  {
    name: "avc-config",
    seeds: [...Object.values(AVC), AVC_WITH_B_FRAMES, HIGH_RANGE.avcPq],
    read(input) {
      const { width, height } = describeAvc(input);
      holds(width > 0 && height > 0, "a picture has a size");
      avcReorderFrames(input);
      rangeOfConfig("avc", input);
    },
  },
  {
    name: "hevc-config",
    seeds: [...Object.values(HEVC), HIGH_RANGE.hevcPq, HIGH_RANGE.hevcHlg, HIGH_RANGE.hevcSdr],
    read(input) {
      const { width, height } = describeHevc(input);
      holds(width > 0 && height > 0, "a picture has a size");
      hevcParameterSets(input);
      hevcReorderFrames(input);
      rangeOfConfig("hevc", input);
    },
  },
  {
    name: "av1-config",
    seeds: Object.values(AV1),
    read(input) {
      describeAv1(input);
      rangeOfConfig("av1", input);
    },
  },
  {
    name: "aac-config",
    seeds: AAC_CONFIGS,
    read(input) {
      const { channels, sampleRate } = describeAac(input);
      holds(channels > 0 && sampleRate > 0, "sound has channels and a rate");
      readAacConfig(new BitReader(input), false);
    },
  },
  {
    name: "pictures",
    seeds: [avcPicture, lengthPrefixed([Uint8Array.of(0x40, 1, 0x0c), Uint8Array.of(0x26, 1, 0xaf, 0x09)])],
    read(input) {
      const { length } = lengthPrefixedToAnnexB(input);
      holds(length <= 4 + 2 * input.length, "start codes are as long as lengths");
      for (const codec of ["avc", "hevc", "av1"] as const) isIdrAccessUnit(codec, input);
      splitParameterSets(input);
      withoutAvcMessages(input);
      x264KeyframeInterval(input);
    },
  },
  {
    name: "annex-b",
    seeds: [
      annexB(...avcUnits.sps, ...avcUnits.pps, Uint8Array.of(0x65, 0x88, 0x84)),
      annexB(...hevcParameterSets(HEVC.main1080p), Uint8Array.of(0x26, 1, 0xaf)),
    ],
    read(input) {
      // An H.264 parameter set begins with 0x67 or 0x68, an HEVC one with 0x40 to 0x44.
      const codec = (input[4] ?? 0) >> 5 === 3 ? "avc" : "hevc";
      new PictureReader(codec, counting(input), () => {}).read(input);
    },
  },
  {
    name: "opus",
    seeds: [SILENT_OPUS_PACKET, Uint8Array.of(0xff, 0x83, 1, 2, 3)],
    read(input) {
      holds(opusPacketSamples(input) <= 5_760, "a packet lasts at most 120 ms");
    },
  },
];
