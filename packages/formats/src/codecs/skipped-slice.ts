import { BitWriter } from "../bits/index.ts";

/** The largest quantiser (ITU-T H.264 7.4.3): with it, a decoder expects skipped macroblocks most. */
export const SKIPPED_QP = 51;

/** ITU-T H.264 table 9-45, from the state on in which `mb_skip_flag` begins: its ranges of the less probable symbol. */
const FIRST_STATE = 42;
const LAST_STATE = 62;
const LPS_RANGES: readonly (readonly [number, number, number, number])[] = [
  [16, 20, 23, 27],
  [15, 19, 22, 25],
  [14, 18, 21, 24],
  [14, 17, 20, 23],
  [13, 16, 19, 22],
  [12, 15, 18, 21],
  [12, 14, 17, 20],
  [11, 14, 16, 19],
  [11, 13, 15, 18],
  [10, 12, 15, 17],
  [10, 12, 14, 16],
  [9, 11, 13, 15],
  [9, 11, 12, 14],
  [8, 10, 12, 14],
  [8, 9, 11, 13],
  [7, 9, 11, 12],
  [7, 9, 10, 12],
  [7, 8, 10, 11],
  [6, 8, 9, 11],
  [6, 7, 9, 10],
  [6, 7, 8, 9],
];

/**
 * The data of a P slice of `macroblocks` that are all skipped, in CABAC, with `cabac_init_idc` 0 and a quantiser of 51. Skipped neighbours leave one
 * context for `mb_skip_flag` (9.3.3.1.1.1), which begins in state 42 (table 9-13: 23 × 51 / 16 + 33 = 106) and always gets its more probable symbol.
 */
export function skippedInCabac(macroblocks: number): Uint8Array {
  const bits = new BitWriter();
  const coder = new ArithmeticCoder(bits);
  let state = FIRST_STATE;
  for (let left = macroblocks; left > 0; left--) {
    coder.probable(LPS_RANGES[state - FIRST_STATE] ?? [0, 0, 0, 0]);
    state = Math.min(state + 1, LAST_STATE);
    coder.terminate(left === 1);
  }
  return bits.toBytes();
}

/** The part of the arithmetic encoder (ITU-T H.264 9.3.4) that symbols as expected need. */
class ArithmeticCoder {
  readonly #bits: BitWriter;
  #low = 0;
  #range = 510;
  #isFirst = true;
  #outstanding = 0;

  constructor(bits: BitWriter) {
    this.#bits = bits;
  }

  probable(lpsRanges: readonly [number, number, number, number]): void {
    this.#range -= lpsRanges[(this.#range >> 6) & 3] ?? 0;
    this.#renormalise();
  }

  /** `end_of_slice_flag`. After the last one, the stop bit is written too. */
  terminate(isEnd: boolean): void {
    this.#range -= 2;
    if (!isEnd) return this.#renormalise();
    this.#low += this.#range;
    this.#range = 2;
    this.#renormalise();
    this.#put((this.#low >> 9) & 1);
    this.#bits.bits(((this.#low >> 7) & 3) | 1, 2);
  }

  #renormalise(): void {
    for (; this.#range < 256; this.#range <<= 1, this.#low <<= 1) {
      if (this.#low < 256) this.#put(0);
      else if (this.#low >= 512) {
        this.#low -= 512;
        this.#put(1);
      } else {
        this.#low -= 256;
        this.#outstanding++;
      }
    }
  }

  #put(bit: number): void {
    if (this.#isFirst) this.#isFirst = false;
    else this.#bits.bits(bit, 1);
    for (; this.#outstanding > 0; this.#outstanding--) this.#bits.bits(1 - bit, 1);
  }
}
