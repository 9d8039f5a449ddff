import { expect, test } from "vitest";
import { FragmentEditor, type FragmentSample, writeAudioFragment, writeVideoFragment } from "./index.ts";

const sample = (time: number): FragmentSample => ({
  time,
  decodeTime: time,
  duration: 3000,
  isIndependent: true,
  data: Uint8Array.of(1, 2, 3),
});
const NONE = new Uint8Array();
const nowhere = () => ({ sequence: 0, earlierTicks: 0, prefix: NONE });
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
  const editor = new FragmentEditor(() => ({ sequence: 77, earlierTicks: 60_000, prefix: NONE }));
  const [placed = NONE] = editor.push(moof);
  expect(told(placed)).toEqual({ sequence: 77, time: 2 ** 40 - 60_000 });
  expect(sizeOf(placed)).toBe(byteLength);
});

test.each([1, 7, 100, 4096])("fragments that come in pieces of %i bytes are the same after it", (step) => {
  const fragments = Buffer.concat(
    [0, 1, 2].flatMap((n) => writeVideoFragment(n, [sample(n * 6000), sample(n * 6000 + 3000)])),
  );
  const before = Buffer.from(fragments);
  let places = 0;
  const editor = new FragmentEditor(() => {
    places++;
    return { sequence: 9, earlierTicks: 0, prefix: NONE };
  });
  const out: Uint8Array[] = [];
  for (let at = 0; at < fragments.byteLength; at += step) out.push(...editor.push(fragments.subarray(at, at + step)));
  const whole = Buffer.concat(out);
  expect(places).toBe(3);
  expect(fragments.equals(before)).toBe(true);
  expect(whole.byteLength).toBe(fragments.byteLength);
  expect(told(whole).sequence).toBe(9);
});

test.each([1, 7, 4096])("what is put before the first sample is part of it, in pieces of %i bytes", (step) => {
  const first = [sample(0), sample(3000)];
  const fragments = Buffer.concat([...writeVideoFragment(1, first), ...writeVideoFragment(2, [sample(6000)])]);
  const prefix = Uint8Array.of(0, 0, 0, 1, 9);
  let n = 0;
  const editor = new FragmentEditor(() => ({ sequence: ++n, earlierTicks: 0, prefix: n === 1 ? prefix : NONE }));
  const out: Uint8Array[] = [];
  for (let at = 0; at < fragments.byteLength; at += step) out.push(...editor.push(fragments.subarray(at, at + step)));
  const [head = NONE] = writeVideoFragment(1, [
    { ...sample(0), data: Buffer.concat([prefix, sample(0).data]) },
    sample(3000),
  ]);
  const wanted = [head, prefix, ...first.map(({ data }) => data), ...writeVideoFragment(2, [sample(6000)])];
  expect(Buffer.concat(out).toString("hex")).toBe(Buffer.concat(wanted).toString("hex"));
});

test("what is no fragment is an error, not a wait for the rest of it", () => {
  const editor = new FragmentEditor(nowhere);
  expect(() => editor.push(Uint8Array.of(0, 0, 0, 1, 1, 2, 3, 4))).toThrow("a box of a fragment");
  const endless = Uint8Array.of(0x7f, 0, 0, 0, 0x6d, 0x6f, 0x6f, 0x66);
  expect(() => new FragmentEditor(nowhere).push(endless)).toThrow("a box of a fragment");
});
