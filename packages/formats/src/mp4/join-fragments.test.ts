import { expect, test } from "vitest";
import { type FragmentSample, joinFragments, writeAudioFragment, writeVideoFragment } from "./index.ts";

const samples = (count: number, from = 2 ** 33): FragmentSample[] =>
  Array.from({ length: count }, (_, n) => ({
    time: from + n * 3000 + (n % 3) * 3000,
    decodeTime: from + n * 3000,
    duration: 3000,
    isIndependent: n === 0,
    data: new Uint8Array(10 + n).fill(n),
  }));

/** Splits the bytes into views of `size`, as memory pages do. */
function inViews(pieces: readonly Uint8Array[], size: number): Uint8Array[] {
  const bytes = Buffer.concat(pieces);
  return Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
}

test.each([
  ["video", writeVideoFragment, 7],
  ["video", writeVideoFragment, 4096],
  ["audio", writeAudioFragment, 7],
  ["audio", writeAudioFragment, 4096],
] as const)(
  "joined parts of %s equal one fragment of all their samples, for views of any size",
  (_kind, write, size) => {
    const all = samples(9);
    const parts = [all.slice(0, 4), all.slice(4, 5), all.slice(5)].map((some, n) => inViews(write(n + 5, some), size));
    const joined = joinFragments(parts);
    expect(Buffer.concat(joined ?? [])).toEqual(Buffer.concat(write(5, all)));
  },
);

test("parts that are not contiguous, or of different kinds, are not joined", () => {
  const part = (from: number) => writeVideoFragment(1, samples(2, from));
  expect(joinFragments([part(0), part(6000)])).not.toBeNull();
  expect(joinFragments([part(0), part(6001)])).toBeNull();
  const uneven = samples(2, 6000).map((sample, n) => ({ ...sample, duration: 3000 - n }));
  expect(joinFragments([writeAudioFragment(1, samples(2, 0)), writeAudioFragment(2, uneven)])).toBeNull();
  expect(joinFragments([])).toBeNull();
});
