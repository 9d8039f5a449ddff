import { expect, test } from "vitest";
import { type FragmentSample, readAudioSamples, writeAudioFragment } from "./index.ts";

const frame = (time: number, duration = 1024): FragmentSample => ({
  time,
  decodeTime: time,
  duration,
  isIndependent: true,
  data: Uint8Array.of(time & 0xff, 2, 3),
});

test.each([
  ["alike", [frame(2 ** 40), frame(2 ** 40 + 1024)]],
  ["of different lengths", [frame(0, 1024), frame(1024, 960)]],
])("frames that last %s are read back from their fragments", (_lengths, frames) => {
  const later = [frame(2 ** 41), frame(2 ** 41 + 1024)];
  const fragments = Buffer.concat([...writeAudioFragment(1, frames), ...writeAudioFragment(2, later)]);
  const read = readAudioSamples(fragments).map((sample) => ({ ...sample, data: new Uint8Array(sample.data) }));
  expect(read).toEqual([...frames, ...later]);
});

test("what is no fragment of sound, or ends within one, is an error", () => {
  const fragment = Buffer.concat(writeAudioFragment(1, [frame(0)]));
  expect(() => readAudioSamples(Buffer.alloc(100))).toThrow("a fragment of ours");
  for (const bytes of [4, 40, 70, fragment.byteLength - 12])
    expect(() => readAudioSamples(fragment.subarray(0, bytes))).toThrow("a fragment of ours");
});
