import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, it } from "vitest";
import { FormatError } from "../bits/index.ts";
import { type Mp4Frame, Mp4Reader, type SourceFormat } from "./index.ts";

const corpus = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(`corpus/${name}.mp4`, import.meta.url)));
const FILES = ["index-first", "index-last", "fragments", "video", "sound"] as const;

function rig() {
  const tracks: SourceFormat[] = [];
  const frames: Mp4Frame[] = [];
  const state = { allocated: 0, apart: 0, others: {} };
  const reader = new Mp4Reader(
    {
      others: (others) => void Object.assign(state.others, others),
      track: (format) => void tracks.push(format),
      frame: (frame) => void frames.push(frame),
      apart: () => void state.apart++,
    },
    (bytes) => {
      state.allocated += bytes;
      return new Uint8Array(bytes);
    },
  );
  return { reader, tracks, frames, state };
}

/** Reads a file as it lies, in pieces of this many bytes; one with its index behind the media in the order of its boxes that players ask for. */
function readAll(file: Uint8Array, step = 1000) {
  const all = rig();
  const push = (from: number) => {
    for (let at = from; at < file.byteLength; at += step) all.reader.push(file.subarray(at, at + step));
  };
  push(0);
  return all;
}

const timesOf = (frames: readonly Mp4Frame[], kind: string) =>
  frames.filter((frame) => frame.kind === kind).map(({ decode, presentation }) => [decode, presentation]);

it.each(["index-first", "index-last", "fragments"])("pictures and sound of %s are what FFmpeg wrote", (name) => {
  const { reader, tracks, frames } = readAll(corpus(name));
  const early = reader.mediaBeforeIndex;
  expect(tracks.map(({ codec }) => codec)).toEqual(["avc", "aac"]);
  if (name === "index-last") {
    expect(frames).toEqual([]);
    reader.seek(early?.at ?? 0);
    reader.push(corpus(name).subarray(early?.at));
  }
  const [video, audio] = [timesOf(frames, "video"), timesOf(frames, "audio")];
  // An edit list shows the first picture at 0; the fragments have none, so that all is later by what B-frames need.
  const later = name === "fragments" ? 18_000 : 0;
  const first = [
    [-18_000, 0],
    [-9_000, 27_000],
    [0, 9_000],
    [9_000, 18_000],
  ];
  expect(video.slice(0, 4)).toEqual(first.map((times) => times.map((time) => time + later)));
  expect(video).toHaveLength(20);
  expect(frames.filter((frame) => frame.kind === "video" && frame.isSync)).toHaveLength(2);
  expect(audio[0]).toEqual(later > 0 ? [0, 0] : [-1920, -1920]);
  expect(audio.length).toBeGreaterThan(93);
  expect(reader.isComplete).toBe(name !== "fragments");
});

it("an index behind the media is announced, and where the media is", () => {
  const file = corpus("index-last");
  const { reader } = rig();
  reader.push(file.subarray(0, 2000));
  const early = reader.mediaBeforeIndex;
  expect(early?.at).toBeGreaterThan(0);
  reader.seek(early?.end ?? 0);
  reader.push(file.subarray(early?.end));
  expect([reader.hasIndex, reader.isFile, reader.isComplete]).toEqual([true, true, false]);
});

it.each(FILES)("%s is the same byte by byte", (name) => {
  const file = corpus(name);
  expect(readAll(file, 1).frames).toEqual(readAll(file, file.byteLength).frames);
});

it("tracks that are not read are counted", () => {
  const file = corpus("index-first");
  expect(readAll(file).state.others).toEqual({ video: 0, audio: 0, captions: 0 });
  const text = new TextDecoder("latin1").decode(file);
  const words = file.slice();
  words.set(new TextEncoder().encode("sbtl"), text.indexOf("vide"));
  expect(readAll(words).state.others).toEqual({ video: 0, audio: 0, captions: 1 });
  expect(readAll(words).frames.length).toBeGreaterThan(90);
});

it("fragments of a file that lie in other places are found again", () => {
  const file = corpus("video");
  const moof = new TextDecoder("latin1").decode(file).indexOf("moof") - 4;
  const { reader, frames } = rig();
  reader.push(file.subarray(0, moof));
  reader.seek(0);
  reader.push(file.subarray(moof));
  expect(frames).toHaveLength(20);
});

it("a box or a sample that says it is large gets no memory before it arrives", () => {
  const huge = Uint8Array.of(0, 0xf0, 0, 0, ...new TextEncoder().encode("moov"), 1, 2, 3);
  const { reader, state } = rig();
  reader.push(huge);
  expect(reader.kept).toBeLessThan(100);
  expect(() => rig().reader.push(Uint8Array.of(0xff, 0, 0, 0, ...new TextEncoder().encode("moov")))).toThrow(
    FormatError,
  );
  expect(state.allocated).toBe(0);
});

/** A box of MP4 with these contents. */
function box(type: string, ...contents: Uint8Array[]): Uint8Array {
  const size = contents.reduce((bytes, { byteLength }) => bytes + byteLength, 8);
  const bytes = new Uint8Array(size);
  new DataView(bytes.buffer).setUint32(0, size);
  bytes.set(new TextEncoder().encode(type), 4);
  let at = 8;
  for (const one of contents) {
    bytes.set(one, at);
    at += one.byteLength;
  }
  return bytes;
}

function numbers(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 4);
  for (const [at, value] of values.entries()) new DataView(bytes.buffer).setInt32(at * 4, value);
  return bytes;
}

/** A reader that knows the tracks of a file of fragments. */
function begunWith(name: "video") {
  const file = corpus(name);
  const { reader } = rig();
  reader.push(file.subarray(0, new TextDecoder("latin1").decode(file).indexOf("moof") - 4));
  return reader;
}

/** Of samples of one byte each. */
const tfhd = box("tfhd", numbers(0x20010, 1, 1));

it("samples of a fragment that lie before it are no reason to count to four billion", () => {
  // From a billion bytes before the fragment on. Few enough for a reader that counts them all to come to an end.
  const trun = box("trun", numbers(1, 10_000_000, -1_000_000_000));
  const reader = begunWith("video");
  reader.push(box("moof", box("traf", tfhd, trun)));
  expect(() => reader.push(box("mdat", new Uint8Array(100)))).toThrow(FormatError);
});

it("a fragment of thousands of runs is refused: all are looked at for each sample", () => {
  const runs = Array.from({ length: 1_001 }, (_, n) => box("traf", tfhd, box("trun", numbers(1, 1, 10_000 + n))));
  expect(() => begunWith("video").push(box("moof", ...runs))).toThrow(FormatError);
  begunWith("video").push(box("moof", ...runs.slice(1)));
});

it("picture and sound that are minutes apart in the file are told", () => {
  const file = corpus("index-first");
  const text = new TextDecoder("latin1").decode(file);
  // The second track's samples get a hundred times their duration.
  const stts = text.lastIndexOf("stts");
  new DataView(file.buffer).setUint32(stts + 16, 102_400);
  expect(readAll(file).state.apart).toBeGreaterThan(0);
});

const mutated = fc.record({
  name: fc.constantFrom(...FILES),
  changes: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 }),
  huge: fc.array(fc.nat(), { maxLength: 2 }),
  end: fc.nat(),
});

it("mutated files are read, rejected, or a FormatError, in bounded memory and time", () => {
  fc.assert(
    fc.property(mutated, ({ name, changes, huge, end }) => {
      const file = corpus(name).slice();
      // Most of a file is media, which cannot be wrong: half of the changes are in the tables.
      const tables = new TextDecoder("latin1").decode(file).indexOf("moov");
      changes.forEach(([at, value], i) => {
        file[i % 2 === 0 ? at % file.byteLength : tables + (at % 1200)] = value;
      });
      for (const at of huge) file.set([0xff, 0xff, 0xff, 0xff], Math.min(file.byteLength - 4, tables + (at % 1200)));
      const all = rig();
      try {
        all.reader.push(file.subarray(0, 500 + (end % file.byteLength)));
        all.reader.seek(0);
        all.reader.push(file);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
      expect(all.state.allocated + all.reader.kept).toBeLessThan(40 * file.byteLength + 2_000_000);
      expect(all.frames.length).toBeLessThan(5_000);
    }),
    { numRuns: 3_000 },
  );
});
