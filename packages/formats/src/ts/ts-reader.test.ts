import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { AVC } from "../codecs/decoder-configs.fixture.ts";
import { describeAac, describeAvc, describeHevc } from "../codecs/index.ts";
import { type TsAudioTrack, TsMuxer, type TsProgram, TsReader, type TsUnit, type TsVideoTrack } from "./index.ts";
import { crc32 } from "./ts-crc.ts";

const PACKET = 188;
const FIRST = { avc: 126_000, sound: 142_080 };

/** Written by FFmpeg 5.1: a second of 64x48 pixels at 10 fps, and a tone. */
const corpus = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`corpus/${name}.m2t`, import.meta.url)));

function readerOf() {
  const tracks: (TsVideoTrack | TsAudioTrack)[] = [];
  const frames: string[] = [];
  const unsupported: string[] = [];
  const programs: TsProgram[] = [];
  let allocated = 0;
  const reader = new TsReader(
    {
      track: (track) => tracks.push(track),
      frame: ({ kind, index, decode, presentation, isIndependent, data }) =>
        frames.push(`${kind} ${index} ${decode} ${presentation} ${isIndependent} ${data.length}`),
      unsupported: (medium, name) => unsupported.push(`${medium} ${name}`),
      program: (found) => programs.push(found),
    },
    (bytes) => {
      allocated += bytes;
      return new Uint8Array(bytes);
    },
  );
  return { reader, tracks, frames, unsupported, programs, allocated: () => allocated };
}

function readAll(bytes: Uint8Array) {
  const read = readerOf();
  read.reader.push(bytes);
  read.reader.end();
  return read;
}

const framesOf = (frames: readonly string[], kind: string) => frames.filter((frame) => frame.startsWith(kind));

test.each([
  ["avc-adts", "avc", 10, "aac", 48, "deu"],
  ["hevc-latm", "hevc", 10, "aac", 48, null],
  ["avc-opus", "avc", 10, "opus", 51, null],
  ["mp2", null, 0, "mp2", 21, null],
  ["ac3", null, 0, "ac3", 16, null],
  ["eac3", null, 0, "eac3", 16, null],
])("%s is read as FFmpeg reads it", (name, video, pictures, sound, samples, language) => {
  const { tracks, frames, unsupported, reader } = readAll(corpus(name));
  const audio = tracks.find(({ kind }) => kind === "audio");
  expect(tracks.find(({ kind }) => kind === "video")?.codec ?? null).toBe(video);
  expect(audio).toMatchObject({ codec: sound, language, index: 0, sampleRate: 48_000 });
  expect([framesOf(frames, "video").length, framesOf(frames, "audio").length]).toEqual([pictures, samples]);
  expect([unsupported, reader.damaged, tracks.length]).toEqual([[], 0, video ? 2 : 1]);
});

test("pictures have their times and their configuration, without parameter sets", () => {
  const { tracks, frames } = readAll(corpus("avc-adts"));
  const [video, audio] = tracks;
  expect(describeAvc(video?.config ?? new Uint8Array())).toMatchObject({ width: 64, height: 48, frameRate: 10 });
  expect(describeAac(audio?.config ?? new Uint8Array())).toMatchObject({ channels: 1, sampleRate: 48_000 });
  expect(framesOf(frames, "video").slice(0, 4)).toEqual([
    `video 0 ${FIRST.avc} 144000 true 963`,
    "video 0 135000 171000 false 21",
    "video 0 144000 153000 false 18",
    "video 0 153000 162000 false 17",
  ]);
  expect(framesOf(frames, "audio").slice(0, 2)).toEqual([
    `audio 0 ${FIRST.sound} ${FIRST.sound} true 69`,
    `audio 0 ${FIRST.sound + 1920} ${FIRST.sound + 1920} true 74`,
  ]);
});

test("HEVC of ten bits is described as such", () => {
  const [video] = readAll(corpus("hevc-latm")).tracks;
  expect(describeHevc(video?.config ?? new Uint8Array())).toMatchObject({ width: 64, bitDepth: 10, chroma: "4:2:0" });
});

test("every audio track is read, each with its language, and counted", () => {
  const { tracks, frames, programs } = readAll(corpus("two-languages"));
  expect(programs).toEqual([{ video: 1, audio: 2, captions: 0 }]);
  expect(tracks.flatMap((track) => (track.kind === "audio" ? [[track.index, track.language]] : []))).toEqual([
    [0, "eng"],
    [1, "fra"],
  ]);
  expect(framesOf(frames, "audio 1").length).toBe(48);
});

test("captions, and sound of a codec that is not read, are counted and not read", () => {
  const AAC_IN_FRENCH = "0fe102f0060a04667261";
  const changed = (streamType: string, descriptor: string) => {
    const bytes = Buffer.from(corpus("two-languages"));
    for (let at = 0; at < bytes.length; at += PACKET) {
      const french = bytes.subarray(at, at + PACKET).indexOf(AAC_IN_FRENCH, 0, "hex");
      if (french < 0) continue;
      bytes.write(streamType, at + french, "hex");
      bytes.write(descriptor, at + french + 5, "hex");
      const table = bytes.subarray(at + 5, at + 5 + 3 + (bytes.readUInt16BE(at + 6) & 0xfff));
      table.writeUInt32BE(crc32(table.subarray(0, -4)), table.length - 4);
    }
    return readAll(bytes);
  };
  for (const [streamType, descriptor, program] of [
    ["06", "59", { video: 1, audio: 1, captions: 1 }],
    ["06", "56", { video: 1, audio: 1, captions: 1 }],
    ["82", "0a", { video: 1, audio: 2, captions: 0 }],
    ["02", "0a", { video: 2, audio: 1, captions: 0 }],
  ] as const) {
    const read = changed(streamType, descriptor);
    expect(read.programs).toEqual([program]);
    expect([read.tracks.length, read.unsupported]).toEqual([2, []]);
  }
});

test("video of another codec is named", () => {
  const { tracks, unsupported } = readAll(corpus("mpeg2"));
  expect([tracks, unsupported]).toEqual([[], ["video MPEG-2"]]);
});

test("bytes may arrive in pieces of any size", () => {
  const bytes = corpus("avc-opus");
  const whole = readAll(bytes).frames;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
      const { reader, frames } = readerOf();
      for (let at = 0, piece = 0; at < bytes.length; piece++) {
        const size = sizes[piece % sizes.length] ?? 1;
        reader.push(bytes.subarray(at, at + size));
        at += size;
      }
      reader.end();
      expect(frames).toEqual(whole);
    }),
    { numRuns: 50 },
  );
});

test("reading goes on at the next packet after bytes that are none", () => {
  const bytes = corpus("avc-adts");
  const whole = readAll(bytes).frames;
  const noise = Uint8Array.from({ length: 500 }, (_, at) => (at % 7 === 0 ? 0x47 : at));
  const cut = 20 * PACKET;
  const { frames } = readAll(Buffer.concat([noise, bytes.subarray(0, cut), noise, bytes.subarray(cut)]));
  expect(frames).toEqual(whole);
});

test("a frame of which a packet is missing is left out and counted, all others are read", () => {
  const bytes = corpus("avc-adts");
  const whole = readAll(bytes).frames;
  const at = Array.from({ length: bytes.length / PACKET }, (_, packet) => packet * PACKET).find(
    // The second packet of the second keyframe.
    (offset) => offset > bytes.length / 3 && pidOf(bytes, offset) === 0x100 && !isStart(bytes, offset),
  );
  const { frames, reader } = readAll(Buffer.concat([bytes.subarray(0, at), bytes.subarray((at ?? 0) + PACKET)]));
  expect(frames).toHaveLength(whole.length - 1);
  expect(whole).toEqual(expect.arrayContaining(frames));
  expect(reader.damaged).toBe(1);
});

test("a packet that is sent twice counts once", () => {
  const bytes = corpus("avc-adts");
  const twice = Array.from({ length: bytes.length / PACKET }, (_, packet) => {
    const one = bytes.subarray(packet * PACKET, (packet + 1) * PACKET);
    return packet % 3 === 0 ? [one, one] : [one];
  });
  expect(readAll(Buffer.concat(twice.flat())).frames).toEqual(readAll(bytes).frames);
});

const pidOf = (bytes: Uint8Array, at: number) => (((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0);
const isStart = (bytes: Uint8Array, at: number) => ((bytes[at + 1] ?? 0) & 0x40) !== 0;

test("media before the tables is skipped, and a reader that joins in the middle finds the rest", () => {
  const bytes = corpus("avc-adts");
  const tables = [0, 0x1000];
  const packets = Array.from({ length: bytes.length / PACKET }, (_, n) => bytes.subarray(n * PACKET, (n + 1) * PACKET));
  const late = packets.filter((packet, index) => index > packets.length / 3 || !tables.includes(pidOf(packet, 0)));
  const { frames, tracks } = readAll(Buffer.concat(late));
  expect(tracks).toHaveLength(2);
  expect(frames.length).toBeGreaterThan(20);
  expect(readAll(bytes).frames).toEqual(expect.arrayContaining(frames));
});

const picture = (ticks: number): TsUnit => {
  const data = new Uint8Array(104).fill(0xab);
  new DataView(data.buffer).setUint32(0, 100);
  data[4] = 0x65;
  return { kind: "video", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true, data };
};
const sound = (ticks: number): TsUnit => ({
  ...{ kind: "audio", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true },
  data: new Uint8Array(200).fill(0xcd),
});
const TRACKS = {
  video: { codec: "avc", config: AVC.baseline360p },
  audio: { config: Uint8Array.of(0x11, 0x90) },
} as const;

function muxed(muxer: TsMuxer, units: readonly TsUnit[]) {
  const parts: Uint8Array[] = [];
  for (const unit of units) {
    muxer.write(unit, (bytes) => {
      const part = new Uint8Array(bytes);
      parts.push(part);
      return part;
    });
  }
  return Buffer.concat(parts);
}

test("times go on where 33 bits wrap, for all tracks together", () => {
  const muxer = new TsMuxer();
  muxer.begin(TRACKS);
  const start = 2 ** 33 - 45_000 - 9_000;
  const units = Array.from({ length: 12 }, (_, n) => [picture(start + n * 3_000), sound(start + n * 3_000 - 6_000)]);
  const { frames } = readAll(muxed(muxer, units.flat()));
  const decodes = (kind: string) => framesOf(frames, kind).map((frame) => Number(frame.split(" ")[2]));
  expect(decodes("video")).toEqual(units.map((_, n) => start + 45_000 + n * 3_000));
  expect(decodes("audio")).toEqual(units.map((_, n) => start + 39_000 + n * 3_000));
  expect(Math.max(...decodes("audio"))).toBeGreaterThan(2 ** 33);
});

test("a program whose streams change goes on with the new ones", () => {
  const muxer = new TsMuxer();
  muxer.begin({ ...TRACKS, audio: null });
  const first = muxed(muxer, [picture(0), picture(3_000)]);
  muxer.begin(TRACKS);
  const second = muxed(muxer, [picture(6_000), sound(6_000), picture(9_000)]);
  const { tracks, frames, reader } = readerOf();
  reader.push(first);
  expect(tracks.map(({ kind }) => kind)).toEqual(["video"]);
  reader.push(second);
  reader.end();
  expect(tracks.map(({ kind }) => kind)).toEqual(["video", "audio"]);
  expect([framesOf(frames, "video").length, framesOf(frames, "audio").length]).toEqual([4, 1]);
});

test("a picture without an end is given up, and its memory is bounded", () => {
  const muxer = new TsMuxer();
  muxer.begin({ ...TRACKS, audio: null });
  const start = muxed(muxer, [picture(0)]);
  const { reader, frames, allocated } = readerOf();
  reader.push(start);
  const body = new Uint8Array(PACKET).fill(0x55);
  // A PES packet of unbounded length: the start of a picture, then 40 MB of it.
  const head = start.slice(2 * PACKET, 3 * PACKET);
  head.set([0x47, 0x41, 0x00, 0x11, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]);
  reader.push(head);
  for (let n = 2; n < (40 * 1024 * 1024) / 184; n++) {
    body.set([0x47, 0x01, 0x00, 0x10 | (n & 15)]);
    reader.push(body);
  }
  expect(reader.damaged).toBe(1);
  expect(frames).toHaveLength(1);
  expect(allocated()).toBeLessThan(1_000);
});

test("a hundred thousand damaged packets end in nothing worse than a FormatError", () => {
  const files = ["avc-adts", "hevc-latm", "avc-opus", "mp2", "eac3"].map(corpus);
  let seed = 28;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  let packets = 0;
  let refusals = 0;
  let allocated = 0;
  while (packets < 100_000) {
    const bytes = Uint8Array.from(files[random(files.length)] ?? new Uint8Array());
    packets += bytes.length / PACKET;
    for (let flips = 1 + random(60); flips > 0; flips--) bytes[random(bytes.length)] = random(256);
    const read = readerOf();
    try {
      read.reader.push(bytes);
      read.reader.end();
    } catch (error) {
      expect(error).toBeInstanceOf(FormatError);
      refusals++;
    }
    allocated = Math.max(allocated, read.allocated());
  }
  expect(refusals).toBeGreaterThan(0);
  // A frame is never larger than what came.
  expect(allocated).toBeLessThan(20_000);
});

test("arbitrary bytes end in nothing worse than a FormatError", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: PACKET - 1, maxLength: PACKET - 1 }), { maxLength: 20 }),
      (bodies) => {
        const { reader } = readerOf();
        try {
          for (const body of bodies) reader.push(Uint8Array.of(0x47, ...body));
          reader.end();
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      },
    ),
  );
});
