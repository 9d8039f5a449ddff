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

/** Sequence number and decode time of a `moof`, found by box sizes and offsets alone. */
function sequenceAndTime(moof: Uint8Array) {
  const view = new DataView(moof.buffer, moof.byteOffset, moof.byteLength);
  return { sequence: view.getUint32(20), time: Number(view.getBigUint64(32 + view.getUint32(32) + 12)) };
}

test.each([
  ["video", writeVideoFragment],
  ["audio", writeAudioFragment],
] as const)("a fragment of %s gets a new sequence number and decode time, and nothing else changes", (_kind, write) => {
  const moof = moofOf(Buffer.concat(write(1, [sample(2 ** 40), sample(2 ** 40 + 3000)])));
  const { byteLength } = moof;
  const editor = new FragmentEditor(() => ({ sequence: 77, earlierTicks: 60_000, prefix: NONE }));
  const [placed = NONE] = editor.push(moof);
  expect(sequenceAndTime(placed)).toEqual({ sequence: 77, time: 2 ** 40 - 60_000 });
  expect(sizeOf(placed)).toBe(byteLength);
});

test.each([1, 7, 100, 4096])("the output is the same for input in chunks of %i bytes", (step) => {
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
  expect(sequenceAndTime(whole).sequence).toBe(9);
});

test.each([1, 7, 4096])("a prefix becomes part of the first sample, for input in chunks of %i bytes", (step) => {
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

test("input that is not a fragment throws instead of waiting for more bytes", () => {
  const editor = new FragmentEditor(nowhere);
  expect(() => editor.push(Uint8Array.of(0, 0, 0, 1, 1, 2, 3, 4))).toThrow("a box of a fragment");
  const endless = Uint8Array.of(0x7f, 0, 0, 0, 0x6d, 0x6f, 0x6f, 0x66);
  expect(() => new FragmentEditor(nowhere).push(endless)).toThrow("a box of a fragment");
});
