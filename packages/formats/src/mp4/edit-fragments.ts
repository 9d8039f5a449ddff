import { FormatError } from "../bits/index.ts";
import { concat, uint32 } from "./box.ts";

const MOOF = 0x6d6f6f66;
const TFHD = 0x74666864;
const TFDT = 0x74666474;
const TRUN = 0x7472756e;
const MDAT = 0x6d646174;
const HEADER = 8;
/** Of a fragment that `writeVideoFragment` or `writeAudioFragment` wrote: `moof` has `mfhd`, then `traf` with `tfhd`, `tfdt` and `trun`. */
const SEQUENCE_AT = 20;
const TFHD_AT = 32;
/** In a `tfdt` of 64 bits, which `trun` follows. */
const TIME_AT = 12;
const TFDT_SIZE = 20;
/** The first sample of a `trun` that says where its data begin and nothing else of the first sample (8.8.8.1). */
const FIRST_SAMPLE_AT = 20;
const TRUN_DURATION = 0x100;
/** A part has at most 1,000 samples of 16 bytes each. */
const LONGEST_MOOF = 1 << 20;

/** Where a fragment is to stand in a file. */
export interface FragmentPlace {
  /** Increasing through the file. */
  readonly sequence: number;
  /** How much earlier than it says itself. */
  readonly earlierTicks: number;
  /** Put before the data of the first sample, as part of it. */
  readonly prefix: Uint8Array;
}

/** Give a `moof` of ours its place, in place (ISO/IEC 14496-12 8.8.5, 8.8.8, 8.8.12). Throws `FormatError` for any other. */
function placeFragment(moof: Uint8Array, { sequence, earlierTicks, prefix }: FragmentPlace): void {
  const view = new DataView(moof.buffer, moof.byteOffset, moof.byteLength);
  const tfdtAt = isBox(view, TFHD_AT, TFHD) ? TFHD_AT + view.getUint32(TFHD_AT) : view.byteLength;
  if (!isBox(view, tfdtAt, TFDT)) throw new FormatError("a fragment of ours", TFHD_AT);
  view.setUint32(SEQUENCE_AT, sequence);
  view.setBigUint64(tfdtAt + TIME_AT, view.getBigUint64(tfdtAt + TIME_AT) - BigInt(earlierTicks));
  if (prefix.byteLength === 0) return;
  const trunAt = tfdtAt + TFDT_SIZE;
  if (!isBox(view, trunAt, TRUN)) throw new FormatError("a fragment of ours", trunAt);
  const sizeAt = trunAt + FIRST_SAMPLE_AT + (view.getUint32(trunAt + HEADER) & TRUN_DURATION ? 4 : 0);
  view.setUint32(sizeAt, view.getUint32(sizeAt) + prefix.byteLength);
}

function isBox(view: DataView, at: number, type: number): boolean {
  return at + 20 <= view.byteLength && view.getUint32(at + 4) === type;
}

/** Passes fragments on as they come, in pieces of any size, each at the place that `nextPlace` gives it. */
export class FragmentEditor {
  readonly #nextPlace: () => FragmentPlace;
  /** Of the fragment whose media come next. */
  #prefix: Uint8Array = new Uint8Array();
  #pending: Uint8Array = new Uint8Array();
  /** Bytes of a box that is passed on as it is. */
  #passing = 0;

  constructor(nextPlace: () => FragmentPlace) {
    this.#nextPlace = nextPlace;
  }

  /** The bytes that can be passed on. Throws `FormatError` for bytes that are no fragment. */
  push(bytes: Uint8Array): Uint8Array[] {
    const all = this.#pending.byteLength > 0 ? concat([this.#pending, bytes]) : bytes;
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    const out: Uint8Array[] = [];
    let at = 0;
    while (at < all.byteLength) {
      if (this.#passing > 0) {
        const passed = all.subarray(at, at + this.#passing);
        out.push(passed);
        this.#passing -= passed.byteLength;
        at += passed.byteLength;
        continue;
      }
      if (at + HEADER > all.byteLength) break;
      const size = view.getUint32(at);
      const type = view.getUint32(at + 4);
      const isMoof = type === MOOF;
      if (size < HEADER || (isMoof && size > LONGEST_MOOF)) throw new FormatError("a box of a fragment", at);
      if (type === MDAT && this.#prefix.byteLength > 0) {
        out.push(uint32(size + this.#prefix.byteLength, MDAT), this.#prefix);
        this.#prefix = new Uint8Array();
        this.#passing = size - HEADER;
        at += HEADER;
      } else if (!isMoof) this.#passing = size;
      else if (at + size > all.byteLength) break;
      else {
        // A copy: the bytes may be somebody else's, and `slice` of a Buffer is no copy.
        const moof = new Uint8Array(all.subarray(at, at + size));
        const place = this.#nextPlace();
        placeFragment(moof, place);
        this.#prefix = place.prefix;
        out.push(moof);
        at += size;
      }
    }
    this.#pending = new Uint8Array(all.subarray(at));
    return out;
  }
}
