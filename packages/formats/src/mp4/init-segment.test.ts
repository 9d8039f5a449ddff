import { expect, test } from "vitest";
import { AVC, HEVC } from "../codecs/decoder-configs.fixture.ts";
import { initSegment, jointInit, readInit, segmentIndexes, type VideoInitTrack } from "./index.ts";

const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "dinf", "stbl", "mvex"]);
// Bytes before the first child of boxes that have both fields and children.
const FIELDS_BEFORE_CHILDREN: Record<string, number> = { dref: 8, stsd: 8, avc1: 78, hvc1: 78, mp4a: 28 };

/** Lists the boxes of `bytes` as `type size`, children indented. Fails if the sizes do not add up. */
function outline(bytes: Uint8Array, indent = ""): string[] {
  const lines: string[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset < bytes.length; ) {
    const size = view.getUint32(offset);
    const type = String.fromCharCode(...bytes.subarray(offset + 4, offset + 8));
    expect(size, type).toBeGreaterThanOrEqual(8);
    expect(offset + size, type).toBeLessThanOrEqual(bytes.length);
    lines.push(`${indent}${type} ${size}`);
    const fields = CONTAINERS.has(type) ? 0 : FIELDS_BEFORE_CHILDREN[type];
    if (fields !== undefined) lines.push(...outline(bytes.subarray(offset + 8 + fields, offset + size), `${indent}  `));
    offset += size;
  }
  return lines;
}

/** The body of the first box at `path`. */
function find(bytes: Uint8Array, ...path: string[]): Uint8Array {
  const [type, ...rest] = path;
  if (type === undefined) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let offset = 0; offset < bytes.length; offset += view.getUint32(offset)) {
    const found = String.fromCharCode(...bytes.subarray(offset + 4, offset + 8));
    const body = bytes.subarray(
      offset + 8 + (rest.length > 0 ? (FIELDS_BEFORE_CHILDREN[found] ?? 0) : 0),
      offset + view.getUint32(offset),
    );
    if (found === type) return find(body, ...rest);
  }
  throw new Error(`no ${type}`);
}

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const video: VideoInitTrack = {
  kind: "video",
  codec: "avc",
  config: AVC.baseline360p,
  width: 640,
  height: 360,
  timescale: 90_000,
};
const audio = {
  kind: "audio",
  codec: "aac",
  config: Uint8Array.of(0x11, 0x90),
  sampleRate: 48_000,
  channels: 2,
  timescale: 48_000,
} as const;
const ENTRY = ["moov", "trak", "mdia", "minf", "stbl", "stsd"];

test("an init segment of video has one track without samples and no edit list", () => {
  expect(outline(initSegment(video))).toEqual([
    "ftyp 24",
    "moov 623",
    "  mvhd 108",
    "  trak 467",
    "    tkhd 92",
    "    mdia 367",
    "      mdhd 32",
    "      hdlr 38",
    "      minf 289",
    "        vmhd 20",
    "        dinf 36",
    "          dref 28",
    "            url  12",
    "        stbl 225",
    "          stsd 149",
    "            avc1 133",
    "              avcC 47",
    "          stts 16",
    "          stsc 16",
    "          stsz 20",
    "          stco 16",
    "  mvex 40",
    "    trex 32",
  ]);
});

test("the sample entry of each codec contains the decoder configuration unchanged", () => {
  expect(hex(find(initSegment(video), ...ENTRY, "avc1", "avcC"))).toBe(hex(AVC.baseline360p));
  const hevc = initSegment({ ...video, codec: "hevc", config: HEVC.main1080p });
  expect(hex(find(hevc, ...ENTRY, "hvc1", "hvcC"))).toBe(hex(HEVC.main1080p));
});

test("audio is track 2 at its own timescale, described by an esds", () => {
  const init = initSegment(audio);
  expect(hex(find(init, "moov", "trak", "tkhd")).slice(24, 32)).toBe("00000002");
  expect(hex(find(init, "moov", "trak", "mdia", "mdhd")).slice(24, 32)).toBe("0000bb80");
  expect(hex(find(init, ...ENTRY, "mp4a", "esds"))).toBe(
    "00000000" + // version and flags
      "0380808022" +
      "000000" + // ES_Descriptor, ES_ID 0
      "0480808014" +
      "4015" +
      "000000" +
      "0000000000000000" + // AAC, audio stream, buffer and rates unsaid
      "0580808002" +
      "1190" + // the AudioSpecificConfig
      "0680808001" +
      "02",
  );
});

test("a sample rate beyond 16 bits is written as 0", () => {
  const entry = find(initSegment({ ...audio, sampleRate: 96_000, timescale: 96_000 }), ...ENTRY, "mp4a");
  expect(hex(entry).slice(32, 56)).toBe("00020010" + "00000000" + "00000000");
});

test("a sample aspect ratio gets a pasp box and widens the track", () => {
  const init = initSegment({ ...video, config: AVC.anamorphicPal, width: 720, height: 576 });
  expect(hex(find(init, ...ENTRY, "avc1", "pasp"))).toBe("000000400000002d");
  expect(hex(find(init, "moov", "trak", "tkhd")).slice(-16)).toBe("04000000" + "02400000");
});

test("a joint init segment has both tracks and the duration", () => {
  const init = jointInit([{ track: video }, { track: audio }], 3601.5);
  expect(outline(init).filter((line) => /trak|trex|mehd/.test(line))).toEqual([
    "  trak 467",
    "  trak 417",
    "    mehd 20",
    "    trex 32",
    "    trex 32",
  ]);
  expect(hex(find(init, "moov", "mvex", "mehd"))).toBe("01000000" + "000000000036f45c");
});

test("a segment index lists size, duration and seek points per track, and the offset of the media", () => {
  const tracks = [
    {
      trackId: 1,
      timescale: 90_000,
      starts: [2 ** 33, 2 ** 33 + 180_000],
      endTicks: 2 ** 33 + 361_500,
      isIndependent: true,
    },
    { trackId: 2, timescale: 48_000, starts: [0, 96_000], endTicks: 192_000, isIndependent: false },
  ];
  expect(hex(segmentIndexes(tracks, [500_000, 400_000]))).toBe(
    "00000040" +
      "73696478" +
      "01000000" + // sidx, version 1
      "00000001" +
      "00015f90" +
      "0000000200000000" +
      "0000000000000040" + // track, timescale, start, first offset: behind the other index
      "00000002" + // two references
      "0007a120" +
      "0002bf20" +
      "90000000" +
      "00061a80" +
      "0002c4fc" +
      "90000000" +
      "00000040" +
      "73696478" +
      "01000000" +
      "00000002" +
      "0000bb80" +
      "0000000000000000" +
      "0000000000000000" +
      "00000002" +
      "0007a120" +
      "00017700" +
      "00000000" +
      "00061a80" +
      "00017700" +
      "00000000",
  );
});

test("with more segments than an index can count, each reference covers several and none is missing", () => {
  const count = 140_000;
  const starts = Array.from({ length: count }, (_, n) => n * 180_000);
  const track = { trackId: 1, timescale: 90_000, starts, endTicks: count * 180_000, isIndependent: true };
  const index = segmentIndexes([track], Array<number>(count).fill(10));
  const view = new DataView(index.buffer, index.byteOffset);
  const references = view.getUint16(38);
  let [bytes, ticks] = [0, 0];
  for (let at = 40; at < index.byteLength; at += 12) {
    bytes += view.getUint32(at);
    ticks += view.getUint32(at + 4);
  }
  expect([references, bytes, ticks]).toEqual([Math.ceil(count / 3), count * 10, count * 180_000]);
});

test("a joint init segment copies the sample entry of an init segment", () => {
  const other = initSegment({ ...video, width: 320, height: 180 });
  const { sampleEntry, timescale, picture } = readInit(other);
  expect([timescale, picture]).toEqual([90_000, { width: 320, height: 180 }]);
  const init = jointInit([{ track: video, sampleEntry }], 1);
  expect(hex(find(init, ...ENTRY))).toBe(hex(find(other, ...ENTRY)));
  expect(readInit(initSegment(audio)).picture).toBeNull();
});
