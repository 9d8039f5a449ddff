import {
  DATA_OFFSET_AT,
  HEADER,
  MDAT,
  MOOF,
  SAMPLE_COUNT_AT,
  TFDT,
  TFDT_SIZE,
  TFDT_TIME_AT,
  TFHD_AT,
  TFHD_DURATION_AT,
  TRAF_AT,
  TRUN,
  TRUN_DURATION,
  TRUN_HEADER,
  viewOf,
} from "./fragment-layout.ts";

/** A parsed `moof`. */
interface Fragment {
  /** The `moof` without the sample rows of its `trun`. */
  readonly head: Uint8Array;
  readonly rows: Uint8Array;
  readonly samples: number;
  readonly decodeTime: number;
  /** Decode time of the last sample. */
  readonly lastTime: number;
  readonly endTime: number;
  /** Whether each row begins with the duration of its sample. */
  readonly hasDurations: boolean;
}

const MAX_DURATION = 0xffff_ffff;

/**
 * Joins the parts of a segment into one fragment (ISO/IEC 14496-12 8.8.4 to 8.8.8): one `moof`, then the media, uncopied. Players that seek with a
 * `sidx` need one fragment per reference: libavformat ignores any further ones. Returns null if the parts are not fragments of this package, differ
 * in their sample defaults, or cannot follow each other; the caller then keeps them as they are.
 */
export function joinFragments(parts: readonly (readonly Uint8Array[])[]): Uint8Array[] | null {
  const moofs = parts.map((views) => moofOf(views));
  const media = parts.flatMap((views, n) => after(views, (moofs[n]?.byteLength ?? 0) + HEADER));
  const head = joinMoofs(
    moofs,
    sum(media, ({ byteLength }) => byteLength),
  );
  return head && [head, ...media];
}

/**
 * The `moof` and the header of the `mdat` that join the fragments with these `moof`s, for `mediaBytes` of media after it. With `wholeBytes` the fragment
 * is this large, with unused space at its end. Null if they cannot be joined.
 *
 * Every sample keeps its decode time. A part is published with a guess of how long its last sample lasts if the next one is late, so parts overlap, or
 * leave holes, by as much as the guess was wrong. Here the next sample is known: the last one lasts until then.
 */
export function joinMoofs(moofs: readonly Uint8Array[], mediaBytes: number, wholeBytes?: number): Uint8Array | null {
  const fragments = moofs.flatMap((moof) => takeApart(moof) ?? []);
  const [first] = fragments;
  if (!first || fragments.length < moofs.length) return null;
  if (!fragments.every((fragment, n) => isAlike(fragment.head, first.head) && isInOrder(fragment, fragments[n + 1])))
    return null;
  const rows = sum(fragments, (fragment) => fragment.rows.byteLength);
  const moofSize = first.head.byteLength + rows;
  const trunAt = first.head.byteLength - TRUN_HEADER;

  const out = new Uint8Array(moofSize + HEADER);
  const view = viewOf(out);
  out.set(first.head);
  view.setUint32(0, moofSize);
  view.setUint32(TRAF_AT, moofSize - TRAF_AT);
  view.setUint32(trunAt, TRUN_HEADER + rows);
  view.setUint32(
    trunAt + SAMPLE_COUNT_AT,
    sum(fragments, ({ samples }) => samples),
  );
  view.setUint32(trunAt + DATA_OFFSET_AT, moofSize + HEADER);
  let at = first.head.byteLength;
  fragments.forEach((fragment, n) => {
    out.set(fragment.rows, at);
    at += fragment.rows.byteLength;
    const next = fragments[n + 1];
    if (next && next.decodeTime !== fragment.endTime)
      view.setUint32(at - fragment.rows.byteLength / fragment.samples, next.decodeTime - fragment.lastTime);
  });
  view.setUint32(moofSize, wholeBytes === undefined ? HEADER + mediaBytes : wholeBytes - moofSize);
  view.setUint32(moofSize + 4, MDAT);
  return out;
}

/** Whether `next` can follow in the same fragment: decode times rise, and samples without a duration of their own are contiguous. */
function isInOrder({ lastTime, endTime, hasDurations }: Fragment, next: Fragment | undefined): boolean {
  if (!next || next.decodeTime === endTime) return true;
  const duration = next.decodeTime - lastTime;
  return hasDurations && duration > 0 && duration <= MAX_DURATION;
}

/** The `moof` at the beginning of a part; empty if there is none. */
function moofOf(views: readonly Uint8Array[]): Uint8Array {
  if (sum(views, ({ byteLength }) => byteLength) <= HEADER) return new Uint8Array();
  const header = viewOf(beginning(views, HEADER));
  return header.getUint32(4) === MOOF ? beginning(views, header.getUint32(0)) : new Uint8Array();
}

/** Null for a box that this package did not write. */
function takeApart(moof: Uint8Array): Fragment | null {
  const view = viewOf(moof);
  if (view.byteLength < TFHD_AT + HEADER || view.getUint32(4) !== MOOF) return null;
  const tfdtAt = TFHD_AT + view.getUint32(TFHD_AT);
  const trunAt = tfdtAt + TFDT_SIZE;
  const headSize = trunAt + TRUN_HEADER;
  if (headSize > view.byteLength || view.getUint32(tfdtAt + 4) !== TFDT || view.getUint32(trunAt + 4) !== TRUN)
    return null;
  const samples = view.getUint32(trunAt + SAMPLE_COUNT_AT);
  const rows = moof.subarray(headSize);
  if (samples === 0 || rows.byteLength % samples !== 0) return null;
  const rowSize = rows.byteLength / samples;
  const hasDurations = (view.getUint32(trunAt + HEADER) & TRUN_DURATION) !== 0;
  const decodeTime = Number(view.getBigUint64(tfdtAt + TFDT_TIME_AT));
  const durationOf = (n: number): number =>
    view.getUint32(hasDurations ? headSize + n * rowSize : TFHD_AT + TFHD_DURATION_AT);
  let lastTime = decodeTime;
  for (let n = 0; n < samples - 1; n++) lastTime += durationOf(n);
  return {
    ...{ head: moof.subarray(0, headSize), rows, samples, hasDurations },
    ...{ decodeTime, lastTime, endTime: lastTime + durationOf(samples - 1) },
  };
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
