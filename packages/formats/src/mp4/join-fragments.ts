import {
  DATA_OFFSET_AT,
  HEADER,
  MDAT,
  MOOF,
  SAMPLE_COUNT_AT,
  TFDT_SIZE,
  TFDT_TIME_AT,
  TFHD_AT,
  TFHD_DURATION_AT,
  TRAF_AT,
  TRUN_DURATION,
  TRUN_HEADER,
  viewOf,
} from "./fragment-layout.ts";

/** A parsed part. */
interface Fragment {
  /** The `moof` without the sample rows of its `trun`. */
  readonly head: Uint8Array;
  readonly rows: Uint8Array;
  readonly samples: number;
  readonly decodeTime: bigint;
  /** Total duration of the samples, in ticks. */
  readonly duration: bigint;
  /** Views of the sample data. */
  readonly media: readonly Uint8Array[];
}

/**
 * Joins the parts of a segment into one fragment (ISO/IEC 14496-12 8.8.4 to 8.8.8): one `moof`, then the media, uncopied. Players that seek with a
 * `sidx` need one fragment per reference: libavformat ignores any further ones. Returns null if the parts are not fragments of this package, are not
 * contiguous, or differ in their sample defaults; the caller then keeps them as they are.
 */
export function joinFragments(parts: readonly (readonly Uint8Array[])[]): Uint8Array[] | null {
  if (!parts.every(isFragment)) return null;
  const fragments = parts.map(takeApart);
  const [first] = fragments;
  if (!first) return null;
  let time = first.decodeTime;
  for (const fragment of fragments) {
    if (fragment.decodeTime !== time || !isAlike(fragment.head, first.head)) return null;
    time += fragment.duration;
  }
  const samples = sum(fragments, (fragment) => fragment.samples);
  const rows = sum(fragments, (fragment) => fragment.rows.byteLength);
  const media = fragments.flatMap((fragment) => fragment.media);
  const moofSize = first.head.byteLength + rows;
  const trunAt = first.head.byteLength - TRUN_HEADER;

  const out = new Uint8Array(moofSize + HEADER);
  const view = new DataView(out.buffer);
  out.set(first.head);
  view.setUint32(0, moofSize);
  view.setUint32(TRAF_AT, moofSize - TRAF_AT);
  view.setUint32(trunAt, TRUN_HEADER + rows);
  view.setUint32(trunAt + SAMPLE_COUNT_AT, samples);
  view.setUint32(trunAt + DATA_OFFSET_AT, moofSize + HEADER);
  let at = first.head.byteLength;
  for (const fragment of fragments) {
    out.set(fragment.rows, at);
    at += fragment.rows.byteLength;
  }
  view.setUint32(moofSize, HEADER + sum(media, (bytes) => bytes.byteLength));
  view.setUint32(moofSize + 4, MDAT);
  return [out, ...media];
}

function isFragment(views: readonly Uint8Array[]): boolean {
  return sum(views, ({ byteLength }) => byteLength) > HEADER && viewOf(beginning(views, HEADER)).getUint32(4) === MOOF;
}

function takeApart(views: readonly Uint8Array[]): Fragment {
  const moofSize = viewOf(beginning(views, HEADER)).getUint32(0);
  const moof = beginning(views, moofSize);
  const view = viewOf(moof);
  const tfdtAt = TFHD_AT + view.getUint32(TFHD_AT);
  const trunAt = tfdtAt + TFDT_SIZE;
  const headSize = trunAt + TRUN_HEADER;
  const samples = view.getUint32(trunAt + SAMPLE_COUNT_AT);
  const rows = moof.subarray(headSize);
  return {
    head: moof.subarray(0, headSize),
    rows,
    samples,
    decodeTime: view.getBigUint64(tfdtAt + TFDT_TIME_AT),
    duration: durationOf(view, trunAt, headSize, samples),
    media: after(views, moofSize + HEADER),
  };
}

function durationOf(moof: DataView, trunAt: number, rowsAt: number, samples: number): bigint {
  if (!(moof.getUint32(trunAt + HEADER) & TRUN_DURATION))
    return BigInt(samples) * BigInt(moof.getUint32(TFHD_AT + TFHD_DURATION_AT));
  const row = (moof.byteLength - rowsAt) / Math.max(samples, 1);
  let ticks = 0;
  for (let at = rowsAt; at < moof.byteLength; at += row) ticks += moof.getUint32(at);
  return BigInt(ticks);
}

/** Whether two fragments have the same `tfhd` and the same `trun` flags. */
function isAlike(head: Uint8Array, other: Uint8Array): boolean {
  if (head.byteLength !== other.byteLength) return false;
  const tfhdEnd = head.byteLength - TRUN_HEADER - TFDT_SIZE;
  const flagsAt = head.byteLength - TRUN_HEADER + HEADER;
  const isSame = (from: number, to: number): boolean => {
    for (let at = from; at < to; at++) if (head[at] !== other[at]) return false;
    return true;
  };
  return isSame(TFHD_AT, tfhdEnd) && isSame(flagsAt, flagsAt + 4);
}

/** The first `size` bytes in one piece, copied if they span several views. */
function beginning(views: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = views;
  if (first && first.byteLength >= size) return first.subarray(0, size);
  const out = new Uint8Array(size);
  let at = 0;
  for (const bytes of views) {
    const taken = bytes.subarray(0, size - at);
    out.set(taken, at);
    at += taken.byteLength;
    if (at === size) return out;
  }
  throw new Error(`a part has ${at} of ${size} bytes`);
}

function after(views: readonly Uint8Array[], size: number): Uint8Array[] {
  let left = size;
  return views.flatMap((bytes) => {
    const skipped = Math.min(left, bytes.byteLength);
    left -= skipped;
    return skipped === bytes.byteLength ? [] : [bytes.subarray(skipped)];
  });
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
