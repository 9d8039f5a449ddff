import { expect, test } from "vitest";
import { type FragmentSample, joinFragments, readSamples, writeAudioFragment, writeVideoFragment } from "./index.ts";

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

/** The samples of two parts, the first of which was published before the time of its successor was known. */
const guessed = (lateTicks: number): FragmentSample[][] => [samples(2, 0), samples(2, 6000 + lateTicks)];

test.each([
  ["late by a millisecond of rounding", 90],
  ["late by half a second", 45_000],
  ["early by a millisecond", -90],
  ["early by all but a tick", -2999],
])(
  "a part whose successor came %s: every sample keeps its decode time, and its last one lasts until then",
  (_, late) => {
    const parts = guessed(late);
    const joined = joinFragments(parts.map((part, n) => inViews(writeVideoFragment(n + 5, part), 7)));
    const found = readSamples(Buffer.concat(joined ?? []));
    expect(found.map(({ decodeTime }) => decodeTime)).toEqual([0, 3000, 6000 + late, 9000 + late]);
    expect(found.map(({ time }) => time)).toEqual(parts.flat().map(({ time }) => time));
    expect(found.map(({ duration }) => duration)).toEqual([3000, 3000 + late, 3000, 3000]);
  },
);

test("a live part is not changed by joining it", () => {
  const parts = guessed(90).map((part, n) => [Buffer.concat(writeVideoFragment(n, part))]);
  const before = parts.map(([bytes]) => Buffer.from(bytes ?? []));
  expect(joinFragments(parts)).not.toBeNull();
  expect(parts.map(([bytes]) => bytes)).toEqual(before);
});

test("parts whose decode times do not rise, or of different kinds, are not joined", () => {
  const join = (...parts: readonly (readonly Uint8Array[])[]) => joinFragments(parts);
  const video = (from: number) => writeVideoFragment(1, samples(2, from));
  const audio = (from: number) => writeAudioFragment(1, samples(2, from));
  expect(join(video(0), video(3001))).not.toBeNull();
  expect(join(video(0), video(3000))).toBeNull();
  expect(join(video(0), video(2 ** 33))).toBeNull();
  // Audio counts samples, so parts of it have no holes to mend.
  expect(join(audio(0), audio(6000))).not.toBeNull();
  expect(join(audio(0), audio(6001))).toBeNull();
  const uneven = samples(2, 6000).map((sample, n) => ({ ...sample, duration: 3000 - n }));
  expect(join(audio(0), writeAudioFragment(2, uneven))).toBeNull();
  expect(join(video(0), audio(6000))).toBeNull();
  expect(
    join(video(0), [Buffer.from("not a fragment of this package, but long enough to be one, in all its bytes")]),
  ).toBeNull();
  expect(join()).toBeNull();
});
