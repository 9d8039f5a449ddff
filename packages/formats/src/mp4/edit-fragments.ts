import { FormatError } from "../bits/index.ts";
import { concat, uint32 } from "./box.ts";
import { MAX_MOOF_BYTES } from "./fragment-head.ts";
import {
  HEADER,
  MDAT,
  MOOF,
  SEQUENCE_AT,
  TFDT,
  TFDT_SIZE,
  TFDT_TIME_AT,
  TFHD,
  TFHD_AT,
  TRUN,
  TRUN_DURATION,
  TRUN_HEADER,
  viewOf,
} from "./fragment-layout.ts";

/** The changes that put a fragment into a joint file. */
export interface FragmentEdit {
  /** The `mfhd` sequence number: it increases through the file. */
  readonly sequence: number;
  /** Subtracted from the fragment's decode time. */
  readonly earlierTicks: number;
  /** Inserted before the data of the first sample, as part of that sample. */
  readonly prefix: Uint8Array;
}

/** Edits a `moof` of this package in place (ISO/IEC 14496-12 8.8.5, 8.8.8, 8.8.12). Throws `FormatError` for any other layout. */
function editMoof(moof: Uint8Array, { sequence, earlierTicks, prefix }: FragmentEdit): void {
  const view = viewOf(moof);
  const tfdtAt = isBox(view, TFHD_AT, TFHD) ? TFHD_AT + view.getUint32(TFHD_AT) : view.byteLength;
  if (!isBox(view, tfdtAt, TFDT)) throw new FormatError("a fragment written by Weir", TFHD_AT);
  view.setUint32(SEQUENCE_AT, sequence);
  view.setBigUint64(tfdtAt + TFDT_TIME_AT, view.getBigUint64(tfdtAt + TFDT_TIME_AT) - BigInt(earlierTicks));
  if (prefix.byteLength === 0) return;
  const trunAt = tfdtAt + TFDT_SIZE;
  if (!isBox(view, trunAt, TRUN)) throw new FormatError("a fragment written by Weir", trunAt);
  const sizeAt = trunAt + TRUN_HEADER + (view.getUint32(trunAt + HEADER) & TRUN_DURATION ? 4 : 0);
  view.setUint32(sizeAt, view.getUint32(sizeAt) + prefix.byteLength);
}

function isBox(view: DataView, at: number, type: number): boolean {
  return at + 20 <= view.byteLength && view.getUint32(at + 4) === type;
}

/** Edits a byte stream of fragments on the fly. The stream comes in chunks of any size; `nextEdit` is called once per fragment. */
export class FragmentEditor {
  readonly #nextEdit: () => FragmentEdit;
  /** The prefix of the fragment whose `mdat` comes next. */
  #prefix: Uint8Array = new Uint8Array();
  #pending: Uint8Array = new Uint8Array();
  /** Bytes left of a box that is copied unchanged. */
  #passing = 0;

  constructor(nextEdit: () => FragmentEdit) {
    this.#nextEdit = nextEdit;
  }

  /** Returns the bytes that are ready. Throws `FormatError` for input that is not a fragment. */
  push(bytes: Uint8Array): Uint8Array[] {
    const all = this.#pending.byteLength > 0 ? concat([this.#pending, bytes]) : bytes;
    const view = viewOf(all);
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
      if (size < HEADER || (isMoof && size > MAX_MOOF_BYTES)) throw new FormatError("a box of a fragment", at);
      if (type === MDAT && this.#prefix.byteLength > 0) {
        out.push(uint32(size + this.#prefix.byteLength, MDAT), this.#prefix);
        this.#prefix = new Uint8Array();
        this.#passing = size - HEADER;
        at += HEADER;
      } else if (!isMoof) this.#passing = size;
      else if (at + size > all.byteLength) break;
      else {
        // A copy, because the caller may own the bytes and `slice` of a Buffer does not copy.
        const moof = new Uint8Array(all.subarray(at, at + size));
        const edit = this.#nextEdit();
        editMoof(moof, edit);
        this.#prefix = edit.prefix;
        out.push(moof);
        at += size;
      }
    }
    this.#pending = new Uint8Array(all.subarray(at));
    return out;
  }
}
