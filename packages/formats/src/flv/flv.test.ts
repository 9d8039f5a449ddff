import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { readAudioTag, readVideoTag } from "./index.ts";

const cc = (text: string) => Array.from(text, (character) => character.charCodeAt(0));
const BODY = [0xaa, 0xbb];

test.each<[string, number[], object]>([
  ["H.264 configuration", [0x17, 0, 0, 0, 0, ...BODY], { codec: "avc1", content: "config", dataOffset: 5, dataEnd: 7 }],
  ["H.264 keyframe", [0x17, 1, 0, 0, 80, ...BODY], { content: "frame", isKeyframe: true, compositionTime: 80 }],
  ["H.264 frame shown before it is decoded", [0x27, 1, 0xff, 0xff, 0xfb], { isKeyframe: false, compositionTime: -5 }],
  ["H.264 end of sequence", [0x17, 2, 0, 0, 0], { content: "other" }],
  ["HEVC as encoders sent it before Enhanced RTMP", [0x1c, 1, 0, 0, 0, ...BODY], { codec: "hvc1", content: "frame" }],
  ["Sorenson", [0x12, 1, 2], { codec: "flv-2", content: "other" }],
  ["command frame", [0x57, 0], { content: "other" }],
  ["hvc1 configuration", [0x90, ...cc("hvc1"), ...BODY], { codec: "hvc1", content: "config", dataOffset: 5 }],
  ["hvc1 frame", [0xa1, ...cc("hvc1"), 0, 0, 40, ...BODY], { isKeyframe: false, compositionTime: 40, dataOffset: 8 }],
  [
    "hvc1 frame without offset",
    [0x93, ...cc("hvc1"), ...BODY],
    { content: "frame", compositionTime: 0, dataOffset: 5 },
  ],
  ["avc1 frame", [0x91, ...cc("avc1"), 0, 0, 1, ...BODY], { codec: "avc1", compositionTime: 1, dataOffset: 8 }],
  ["av01 frame", [0x91, ...cc("av01"), ...BODY], { codec: "av01", content: "frame", dataOffset: 5 }],
  ["vp09 configuration", [0x90, ...cc("vp09")], { codec: "vp09", content: "config" }],
  ["enhanced end of sequence", [0x92, ...cc("hvc1")], { content: "other" }],
  ["enhanced metadata", [0x94, ...cc("hvc1"), ...BODY], { content: "other" }],
  ["enhanced command frame", [0xd1, 0], { content: "other" }],
  ["ModEx before a frame", [0x97, 2, 1, 2, 3, 0x03, ...cc("hvc1"), ...BODY], { content: "frame", dataOffset: 10 }],
  ["two ModEx, one with a long size", [0x97, 255, 0, 1, 9, 9, 7, 0, 5, 0, ...cc("av01")], { content: "config" }],
  [
    "one track, id 0",
    [0x96, 0x01, ...cc("avc1"), 0, 0, 0, 7, ...BODY],
    { compositionTime: 7, dataOffset: 10, dataEnd: 12 },
  ],
  ["one track, id 1", [0x96, 0x01, ...cc("avc1"), 1, 0, 0, 7, ...BODY], { content: "other" }],
  [
    "many tracks of one codec",
    [0x96, 0x13, ...cc("hvc1"), 2, 0, 0, 1, 0xcc, 0, 0, 0, 2, ...BODY, 3, 0, 0, 1, 0xdd],
    { codec: "hvc1", content: "frame", dataOffset: 15, dataEnd: 17 },
  ],
  [
    "many tracks of many codecs",
    [0x96, 0x20, ...cc("vp09"), 1, 0, 0, 1, 0xcc, ...cc("av01"), 0, 0, 0, 2, ...BODY],
    { codec: "av01", content: "config", dataOffset: 19, dataEnd: 21 },
  ],
])("video tag: %s", (_, bytes, expected) => {
  expect(readVideoTag(Uint8Array.from(bytes))).toMatchObject(expected);
});

test.each<[string, number[], object]>([
  ["AAC configuration", [0xaf, 0, 0x12, 0x10], { codec: "mp4a", content: "config", dataOffset: 2 }],
  ["AAC frame", [0xaf, 1, ...BODY], { codec: "mp4a", content: "frame", dataOffset: 2 }],
  ["MP3", [0x2f, 1], { codec: "MP3", content: "frame" }],
  ["Speex", [0xb6, 1], { codec: "Speex" }],
  ["mp4a configuration", [0x90, ...cc("mp4a"), ...BODY], { codec: "mp4a", content: "config", dataOffset: 5 }],
  ["mp4a frame", [0x91, ...cc("mp4a"), ...BODY], { codec: "mp4a", content: "frame", dataOffset: 5 }],
  ["mp4a frame after ModEx", [0x97, 0, 7, 0x01, ...cc("mp4a"), ...BODY], { content: "frame", dataOffset: 8 }],
  ["Opus", [0x91, ...cc("Opus"), ...BODY], { codec: "Opus", content: "frame" }],
  ["channel layout", [0x94, ...cc("mp4a"), 0], { content: "other" }],
  ["end of sequence", [0x92, ...cc("mp4a")], { content: "other" }],
  ["several tracks", [0x95, 0x11, ...cc("mp4a"), 0, 0, 0, 2, ...BODY], { content: "other" }],
])("audio tag: %s", (_, bytes, expected) => {
  expect(readAudioTag(Uint8Array.from(bytes))).toMatchObject(expected);
});

test.each([
  ["nothing", []],
  ["H.264 without its offset", [0x17, 1, 0]],
  ["a FourCC cut short", [0x90, 0x68, 0x76]],
  ["an endless ModEx", [0x97, 200, 1]],
  ["a track longer than its message", [0x96, 0x10, ...cc("avc1"), 3, 0xff, 0xff, 0xff]],
])("a video tag of %s is rejected", (_, bytes) => {
  expect(() => readVideoTag(Uint8Array.from(bytes))).toThrow(FormatError);
});

test("random bytes give a tag within the message or FormatError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        const { dataOffset, dataEnd, content } = readVideoTag(bytes);
        if (content === "frame") expect(dataOffset).toBeLessThanOrEqual(dataEnd);
        expect(dataEnd).toBeLessThanOrEqual(bytes.length);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 2000 },
  );
});

test("random bytes give an audio tag or FormatError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        readAudioTag(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 2000 },
  );
});
