import { expect, test } from "vitest";
import { x264KeyframeInterval } from "./x264-settings.ts";

function unit(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function settings(text: string): Buffer {
  return unit(
    Buffer.concat([Buffer.from([6, 5, 0xff, 0x80]), Buffer.alloc(16, 0xdc), Buffer.from(text), Buffer.from([0, 0x80])]),
  );
}

const IDR = unit(Buffer.from([0x65, 1, 2, 3]));

test.each([
  ["keyint=60 keyint_min=6", 60],
  ["keyint=250 keyint_min=25", 250],
  ["keyint=infinite keyint_min=1073741824", Number.POSITIVE_INFINITY],
  ["no settings", null],
])("with %s the keyframe interval is %s", (text, frames) => {
  const sei = settings(`x264 - core 164 - H.264/MPEG-4 AVC codec - options: cabac=1 ${text} scenecut=0`);
  expect(x264KeyframeInterval(Buffer.concat([sei, IDR]))).toBe(frames);
});

test("the keyframe interval is unknown if the SEI is not from x264, truncated or missing", () => {
  expect(x264KeyframeInterval(Buffer.concat([settings("x265 keyint=60 "), IDR]))).toBe(null);
  expect(x264KeyframeInterval(IDR)).toBe(null);
  expect(x264KeyframeInterval(settings("x264 - core 164 options: keyint=60 ").subarray(0, 30))).toBe(null);
  expect(x264KeyframeInterval(new Uint8Array())).toBe(null);
  expect(x264KeyframeInterval(Buffer.from([0, 0, 0, 0, 6, 5, 0]))).toBe(null);
});
