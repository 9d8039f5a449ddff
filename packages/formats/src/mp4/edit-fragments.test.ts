import { expect, test } from "vitest";
import { FragmentEditor, type FragmentSample, placeFragment, writeAudioFragment, writeVideoFragment } from "./index.ts";

const sample = (time: number): FragmentSample => ({
  time,
  decodeTime: time,
  duration: 3000,
  isIndependent: true,
  data: Uint8Array.of(1, 2, 3),
});
const sizeOf = (bytes: Uint8Array, at = 0): number => new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
const moofOf = (fragment: Uint8Array): Uint8Array => new Uint8Array(fragment.subarray(0, sizeOf(fragment)));

/** Where a `moof` says that it stands, found by sizes and positions alone. */
function told(moof: Uint8Array) {
  const view = new DataView(moof.buffer, moof.byteOffset, moof.byteLength);
  return { sequence: view.getUint32(20), time: Number(view.getBigUint64(32 + view.getUint32(32) + 12)) };
}

test.each([
  ["video", writeVideoFragment],
  ["audio", writeAudioFragment],
] as const)("a fragment of %s gets its number and its time, and stays as it is", (_kind, write) => {
  const moof = moofOf(Buffer.concat(write(1, [sample(2 ** 40), sample(2 ** 40 + 3000)])));
  const { byteLength } = moof;
  placeFragment(moof, { sequence: 77, earlierTicks: 60_000 });
  expect(told(moof)).toEqual({ sequence: 77, time: 2 ** 40 - 60_000 });
  expect(sizeOf(moof)).toBe(byteLength);
});

test.each([1, 7, 100, 4096])("fragments that come in pieces of %i bytes are the same after it", (step) => {
  const fragments = Buffer.concat(
    [0, 1, 2].flatMap((n) => writeVideoFragment(n, [sample(n * 6000), sample(n * 6000 + 3000)])),
  );
  const before = Buffer.from(fragments);
  const seen: number[] = [];
  const editor = new FragmentEditor((moof) => {
    seen.push(told(moof).time);
    placeFragment(moof, { sequence: 9, earlierTicks: 0 });
  });
  const out: Uint8Array[] = [];
  for (let at = 0; at < fragments.byteLength; at += step) out.push(...editor.push(fragments.subarray(at, at + step)));
  const whole = Buffer.concat(out);
  expect(seen).toEqual([0, 6000, 12_000]);
  expect(fragments.equals(before)).toBe(true);
  expect(whole.byteLength).toBe(fragments.byteLength);
  expect(told(whole).sequence).toBe(9);
});

test("what is no fragment is an error, not a wait for the rest of it", () => {
  const editor = new FragmentEditor(() => {});
  expect(() => editor.push(Uint8Array.of(0, 0, 0, 1, 1, 2, 3, 4))).toThrow("a box of a fragment");
  const endless = Uint8Array.of(0x7f, 0, 0, 0, 0x6d, 0x6f, 0x6f, 0x66);
  expect(() => new FragmentEditor(() => {}).push(endless)).toThrow("a box of a fragment");
});
