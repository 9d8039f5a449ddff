import { buffer } from "node:stream/consumers";
import { type FragmentHead, fragmentHead, joinMoofs } from "@weir/formats/mp4";
import type { ByteRange } from "../../platform/storage/object-store.ts";
import type { StoredSegment } from "../../ports/index.ts";

/** Reads a range of the span that contains the segment. */
export type ReadRange = (range: ByteRange) => AsyncIterable<Uint8Array>;

/** A part of ten pictures has a `moof` of 256 bytes; one of 1,000 is read at the third try. */
const FIRST_READ_BYTES = 1024;
const NEXT_READ_FACTOR = 16;
/** More than any segment has. */
const MAX_FRAGMENTS = 4096;
const MDAT_HEADER_BYTES = 8;

interface StoredFragment {
  readonly moof: Uint8Array;
  readonly media: ByteRange;
}

/**
 * The bytes of a stored segment as one fragment. Nearly all are stored so and pass as they are. In older recordings the parts of a segment were not
 * joined, in general or where one of them came late. These are joined here: first their `moof`s are read, then their media. The number of bytes is the
 * same; what joining saves is unused space at the end. A segment that cannot be joined passes as it is.
 */
export async function* asOneFragment({ offset, length }: StoredSegment, read: ReadRange): AsyncGenerator<Uint8Array> {
  const whole = { start: offset, end: offset + length - 1 };
  let isPassing = false;
  let beginning: Uint8Array = new Uint8Array();
  for await (const bytes of read(whole)) {
    if (isPassing) {
      yield bytes;
      continue;
    }
    beginning = Buffer.concat([beginning, bytes]);
    const head = fragmentHead(beginning);
    if (head === "incomplete") continue;
    if (head && head.bytes < length) break;
    isPassing = true;
    yield beginning;
  }
  if (!isPassing) yield* joined(whole, read);
}

async function* joined(whole: ByteRange, read: ReadRange): AsyncGenerator<Uint8Array> {
  const fragments = await fragmentsIn(whole, read);
  const mediaBytes = fragments.reduce((sum, { media }) => sum + sizeOf(media), 0);
  const moofs = fragments.map(({ moof }) => moof);
  const head = joinMoofs(moofs, mediaBytes, sizeOf(whole));
  if (!head) return yield* read(whole);
  yield head;
  for (const { media } of fragments) yield* read(media);
  yield new Uint8Array(sizeOf(whole) - head.byteLength - mediaBytes);
}

/** Empty if the range is not a sequence of fragments. */
async function fragmentsIn({ start, end }: ByteRange, read: ReadRange): Promise<StoredFragment[]> {
  const fragments: StoredFragment[] = [];
  for (let at = start; at <= end; ) {
    const head = await headAt({ start: at, end }, read);
    if (!head || at + head.bytes - 1 > end || fragments.length === MAX_FRAGMENTS) return [];
    const { moof, bytes } = head;
    fragments.push({ moof, media: { start: at + moof.byteLength + MDAT_HEADER_BYTES, end: at + bytes - 1 } });
    at += bytes;
  }
  return fragments;
}

async function headAt({ start, end }: ByteRange, read: ReadRange): Promise<FragmentHead | null> {
  for (let bytes = FIRST_READ_BYTES; ; bytes *= NEXT_READ_FACTOR) {
    const range = { start, end: Math.min(end, start + bytes - 1) };
    const head = fragmentHead(await buffer(read(range)));
    if (head !== "incomplete") return head;
    if (range.end === end) return null;
  }
}

function sizeOf({ start, end }: ByteRange): number {
  return end + 1 - start;
}
