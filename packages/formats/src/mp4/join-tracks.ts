import { FormatError } from "../bits/index.ts";
import { ascii, concat, uint32 } from "./box.ts";
import { DATA_OFFSET_AT, HEADER, MDAT, MOOF, TFDT_SIZE, TFHD_AT, TRAF_AT, viewOf } from "./fragment-layout.ts";

/** One complete fragment. */
interface Fragment {
  readonly moof: Uint8Array;
  readonly media: Uint8Array;
}

/**
 * Joins the fragments of two tracks in one segment into a single fragment with two `traf` (ISO/IEC 14496-12 8.8.6). Players that seek with a `sidx`
 * read only the `moof` that the reference points to, so both tracks must be in it. The first track streams through in chunks of any size; the second
 * is given whole and follows it. Unused space at the end of the `mdat` pads the output to the announced size. A box between two fragments would make
 * libavformat read the second one twice, after which seeks of Chromium find wrong pictures or none. If the first track has several fragments in the
 * segment, both tracks pass unchanged, and a `free` box follows.
 */
export class TrackJoiner {
  readonly #firstBytes: number;
  readonly #second: Uint8Array;
  readonly #size: number;
  /** Bytes of the first track until its `moof` and the header of its `mdat` are complete; null afterwards. */
  #pending: Uint8Array | null = new Uint8Array();
  #behind: Uint8Array;
  #sent = 0;
  #isJoined = false;

  /** `size` is the announced size of the output: the sum of both tracks, or at least 8 bytes more. */
  constructor(firstBytes: number, second: Uint8Array, size: number) {
    this.#firstBytes = firstBytes;
    this.#second = second;
    this.#size = size;
    this.#behind = second;
  }

  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (!this.#pending) return this.#counted([bytes]);
    const head = this.#pending.byteLength > 0 ? concat([this.#pending, bytes]) : bytes;
    const moofBytes = head.byteLength < HEADER ? Number.POSITIVE_INFINITY : viewOf(head).getUint32(0);
    if (head.byteLength < moofBytes + HEADER) {
      // A copy, because the caller reuses the bytes.
      this.#pending = new Uint8Array(head);
      return [];
    }
    this.#pending = null;
    const second = fragmentOf(this.#second);
    if (!second || !isFragment(head, this.#firstBytes)) return this.#counted([head]);
    this.#behind = second.media;
    this.#isJoined = true;
    const joined = joinedHead(head.subarray(0, moofBytes), this.#firstBytes, second, this.#size);
    return this.#counted([joined, head.subarray(moofBytes + HEADER)]);
  }

  /** Returns the bytes after the first track. Throws when the output exceeds the announced size. */
  end(): readonly Uint8Array[] {
    const rest = this.#counted(this.#pending ? [this.#pending, this.#behind] : [this.#behind]);
    const free = this.#size - this.#sent;
    if (free === 0) return rest;
    if (free > 0 && this.#isJoined) return [...rest, new Uint8Array(free)];
    if (free < HEADER) throw new FormatError(`a segment of ${this.#size} bytes`, this.#sent);
    return [...rest, uint32(free), ascii("free"), new Uint8Array(free - HEADER)];
  }

  #counted(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
    for (const { byteLength } of pieces) this.#sent += byteLength;
    return pieces;
  }
}

function joinedHead(moof: Uint8Array, firstBytes: number, second: Fragment, size: number): Uint8Array {
  const firstMedia = firstBytes - moof.byteLength - HEADER;
  const moofBytes = moof.byteLength + second.moof.byteLength - TRAF_AT;
  const head = concat([moof, second.moof.subarray(TRAF_AT), uint32(size - moofBytes, MDAT)]);
  const view = viewOf(head);
  view.setUint32(0, moofBytes);
  view.setUint32(dataOffsetAt(moof), moofBytes + HEADER);
  view.setUint32(moof.byteLength - TRAF_AT + dataOffsetAt(second.moof), moofBytes + HEADER + firstMedia);
  return head;
}

function dataOffsetAt(moof: Uint8Array): number {
  return TFHD_AT + viewOf(moof).getUint32(TFHD_AT) + TFDT_SIZE + DATA_OFFSET_AT;
}

function fragmentOf(bytes: Uint8Array): Fragment | null {
  if (!isFragment(bytes, bytes.byteLength)) return null;
  const moofBytes = viewOf(bytes).getUint32(0);
  return { moof: bytes.subarray(0, moofBytes), media: bytes.subarray(moofBytes + HEADER) };
}

/** Whether the first `size` bytes are exactly one `moof` and one `mdat`, judged by their beginning. */
function isFragment(beginning: Uint8Array, size: number): boolean {
  const view = viewOf(beginning);
  if (view.byteLength < HEADER || view.getUint32(4) !== MOOF) return false;
  const moofBytes = view.getUint32(0);
  if (moofBytes + HEADER > view.byteLength) return false;
  return view.getUint32(moofBytes + 4) === MDAT && moofBytes + view.getUint32(moofBytes) === size;
}
