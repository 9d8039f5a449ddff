import { FormatError } from "../bits/index.ts";
import { ascii, concat, uint32 } from "./box.ts";

const HEADER = 8;
const MOOF = 0x6d6f6f66;
const MDAT = 0x6d646174;
/** Of a fragment that `writeVideoFragment` or `writeAudioFragment` wrote: `moof` has `mfhd`, then one `traf` with `tfhd`, `tfdt` and `trun`. */
const TRAF_AT = 24;
const TFHD_AT = 32;
const TFDT_SIZE = 20;
const DATA_OFFSET_AT = 16;

/** Bytes that are one whole fragment. */
interface Fragment {
  readonly moof: Uint8Array;
  readonly media: Uint8Array;
}

/**
 * A segment of two tracks as one fragment, a `traf` for each (ISO/IEC 14496-12 8.8.6), where each track has one fragment in it: the first track's bytes
 * pass through in pieces of any size, the second's are given whole and come behind them. Players that look a time up in a `sidx` read no further than the
 * `moof` that it leads to. Where the first track has several fragments, both tracks pass as they are. A `free` box fills what is left of the size that
 * was announced.
 */
export class TrackJoiner {
  readonly #firstBytes: number;
  readonly #second: Uint8Array;
  readonly #size: number;
  /** Of the first track, until its `moof` and the header of its media are whole. */
  #pending: Uint8Array | null = new Uint8Array();
  #behind: Uint8Array;
  #sent = 0;

  /** `size`: as much as both, or at least 8 bytes more. */
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
      // A copy, as the bytes are their owner's again.
      this.#pending = new Uint8Array(head);
      return [];
    }
    this.#pending = null;
    const second = fragmentOf(this.#second);
    if (!second || !isFragment(head, this.#firstBytes)) return this.#counted([head]);
    this.#behind = second.media;
    const joined = joinedHead(head.subarray(0, moofBytes), this.#firstBytes, second);
    return this.#counted([joined, head.subarray(moofBytes + HEADER)]);
  }

  /** The bytes behind the first track. Throws where the size that was announced cannot be kept. */
  end(): readonly Uint8Array[] {
    const rest = this.#counted(this.#pending ? [this.#pending, this.#behind] : [this.#behind]);
    const free = this.#size - this.#sent;
    if (free === 0) return rest;
    if (free < HEADER) throw new FormatError(`a segment of ${this.#size} bytes`, this.#sent);
    return [...rest, uint32(free), ascii("free"), new Uint8Array(free - HEADER)];
  }

  #counted(pieces: readonly Uint8Array[]): readonly Uint8Array[] {
    for (const { byteLength } of pieces) this.#sent += byteLength;
    return pieces;
  }
}

function joinedHead(moof: Uint8Array, firstBytes: number, second: Fragment): Uint8Array {
  const firstMedia = firstBytes - moof.byteLength - HEADER;
  const moofBytes = moof.byteLength + second.moof.byteLength - TRAF_AT;
  const mediaBytes = HEADER + firstMedia + second.media.byteLength;
  const head = concat([moof, second.moof.subarray(TRAF_AT), uint32(mediaBytes, MDAT)]);
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

/** Whether `size` bytes that begin so are one `moof` and one `mdat`. */
function isFragment(beginning: Uint8Array, size: number): boolean {
  const view = viewOf(beginning);
  if (view.byteLength < HEADER || view.getUint32(4) !== MOOF) return false;
  const moofBytes = view.getUint32(0);
  if (moofBytes + HEADER > view.byteLength) return false;
  return view.getUint32(moofBytes + 4) === MDAT && moofBytes + view.getUint32(moofBytes) === size;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
