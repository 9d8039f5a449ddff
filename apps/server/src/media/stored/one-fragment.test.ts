import { type FragmentSample, readSamples, writeVideoFragment } from "@weir/formats/mp4";
import { expect, test } from "vitest";
import type { ByteRange } from "../../platform/storage/object-store.ts";
import type { StoredSegment } from "../../ports/index.ts";
import { asOneFragment } from "./one-fragment.ts";

const FRAME = 3000;
const BEFORE = Buffer.alloc(100, "the segment before");

const picture = (number: number, lateTicks: number): FragmentSample => ({
  time: number * FRAME + lateTicks,
  decodeTime: number * FRAME + lateTicks,
  duration: FRAME,
  isIndependent: number === 0,
  data: Buffer.alloc(500 + number, number),
});
/** Parts of `perPart` pictures, each of them so much later than the end of the one before. */
const parts = (count: number, perPart: number, lateTicks: number): Buffer[] =>
  Array.from({ length: count }, (_, part) => {
    const samples = Array.from({ length: perPart }, (_, n) => picture(part * perPart + n, part * lateTicks));
    return Buffer.concat(writeVideoFragment(part, samples));
  });

/** What is sent of a segment in the middle of a span that is read in chunks of this size. */
async function sent(stored: Buffer, chunkBytes: number): Promise<{ bytes: Buffer; reads: number }> {
  const span = Buffer.concat([BEFORE, stored, BEFORE]);
  let reads = 0;
  async function* read({ start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    reads++;
    for (let at = start; at <= end; at += chunkBytes) yield span.subarray(at, Math.min(end + 1, at + chunkBytes));
  }
  const segment = { offset: BEFORE.byteLength, length: stored.byteLength } as StoredSegment;
  const pieces: Buffer[] = [];
  for await (const bytes of asOneFragment(segment, read)) pieces.push(Buffer.from(bytes));
  return { bytes: Buffer.concat(pieces), reads };
}

const fragmentsIn = (bytes: Buffer): number => bytes.toString("latin1").split("moof").length - 1;

test.each([
  ["1 ms late", 90, 7, 10, 65_536],
  ["3 ms early", -270, 7, 10, 100],
  ["contiguous", 0, 7, 10, 1],
  ["of 1,000 pictures each", 90, 3, 1000, 65_536],
])(
  "a stored segment whose parts are %s is sent as one fragment of the same size",
  async (_, late, count, perPart, chunk) => {
    const stored = parts(count, perPart, late);
    const { bytes } = await sent(Buffer.concat(stored), chunk);
    expect([bytes.byteLength, fragmentsIn(bytes)]).toEqual([Buffer.concat(stored).byteLength, 1]);
    const content = ({ time, decodeTime, isIndependent, data }: FragmentSample) => [
      time,
      decodeTime,
      isIndependent,
      `${data}`,
    ];
    expect(readSamples(bytes).map(content)).toEqual(stored.flatMap((part) => readSamples(part)).map(content));
  },
);

test("a segment that is one fragment passes as it is, in one read", async () => {
  const [stored = Buffer.alloc(0)] = parts(1, 60, 0);
  for (const chunk of [1, 64, 65_536]) expect(await sent(stored, chunk)).toEqual({ bytes: stored, reads: 1 });
});

test.each([
  ["parts that cannot be joined", Buffer.concat(parts(3, 10, -FRAME))],
  ["a second part that is cut", Buffer.concat(parts(2, 10, 90)).subarray(0, -5)],
  [
    "a second part with a longer media box than there is",
    Buffer.concat([...parts(1, 10, 90), Buffer.from("0000ffff6d646174", "hex")]),
  ],
  ["something else behind the first part", Buffer.concat([...parts(1, 10, 90), Buffer.alloc(5000, 7)])],
  ["no fragment at all", Buffer.alloc(5000, 7)],
  ["less than a header", Buffer.alloc(3)],
])("%s pass as they are", async (_, stored) => {
  for (const chunk of [7, 65_536]) expect((await sent(stored, chunk)).bytes).toEqual(stored);
});
