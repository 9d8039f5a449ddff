import { FormatError } from "./format-error.ts";

/** Reads big-endian bit fields. Reading past the end throws `FormatError`. It reads one bit at a time, which is fast enough for headers. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #bit: number;

  constructor(bytes: Uint8Array, startByte = 0) {
    this.#bytes = bytes;
    this.#bit = startByte * 8;
  }

  get bitsLeft(): number {
    return this.#bytes.length * 8 - this.#bit;
  }

  /** The byte that holds the next bit, for error messages. */
  get byteOffset(): number {
    return this.#bit >> 3;
  }

  /** An unsigned field of 0 to 32 bits. */
  bits(count: number): number {
    this.#need(count);
    let value = 0;
    for (const end = this.#bit + count; this.#bit < end; this.#bit++) {
      const byte = this.#bytes[this.#bit >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#bit & 7))) & 1);
    }
    return value;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  skip(count: number): void {
    this.#need(count);
    this.#bit += count;
  }

  /** ue(v), ITU-T H.264 9.1. Codes above 2^32 - 2 throw: no syntax element needs them. */
  unsignedExpGolomb(): number {
    let zeros = 0;
    while (!this.flag()) {
      if (++zeros > 31) throw new FormatError("an Exp-Golomb code of at most 32 bits", this.byteOffset);
    }
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** se(v), ITU-T H.264 9.1.1. */
  signedExpGolomb(): number {
    const code = this.unsignedExpGolomb();
    return code % 2 === 0 ? 0 - code / 2 : (code + 1) / 2;
  }

  #need(count: number): void {
    if (this.bitsLeft < count) throw new FormatError(`${count} more bits`, this.byteOffset);
  }
}
