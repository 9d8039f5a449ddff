import { expect, test } from "vitest";
import { type FragmentSample, readSamples, writeAudioFragment, writeVideoFragment } from "./index.ts";

const frame = (time: number, duration = 1024): FragmentSample => ({
  time,
  decodeTime: time,
  duration,
  isIndependent: true,
  data: Uint8Array.of(time & 0xff, 2, 3),
});

test.each([
  ["of equal duration", [frame(2 ** 40), frame(2 ** 40 + 1024)]],
  ["of different durations", [frame(0, 1024), frame(1024, 960)]],
])("audio frames %s round-trip", (_lengths, frames) => {
  const later = [frame(2 ** 41), frame(2 ** 41 + 1024)];
  const fragments = Buffer.concat([...writeAudioFragment(1, frames), ...writeAudioFragment(2, later)]);
  const read = readSamples(fragments).map((sample) => ({ ...sample, data: new Uint8Array(sample.data) }));
  expect(read).toEqual([...frames, ...later]);
});

test("pictures are read in decoding order with their presentation times", () => {
  const picture = (decodeTime: number, time: number, isIndependent = false) => ({
    ...{ ...frame(decodeTime, 3000), time, isIndependent },
  });
  const pictures = [picture(2 ** 40, 2 ** 40 + 3000, true), picture(2 ** 40 + 3000, 2 ** 40 + 9000)];
  const read = readSamples(Buffer.concat(writeVideoFragment(1, pictures)));
  expect(read.map((sample) => ({ ...sample, data: new Uint8Array(sample.data) }))).toEqual(pictures);
});

test("input that is not a fragment written by Weir, or is truncated, throws", () => {
  const fragment = Buffer.concat(writeAudioFragment(1, [frame(0)]));
  expect(() => readSamples(Buffer.alloc(100))).toThrow("a fragment written by Weir");
  for (const bytes of [4, 40, 70, fragment.byteLength - 12])
    expect(() => readSamples(fragment.subarray(0, bytes))).toThrow("a fragment written by Weir");
});
