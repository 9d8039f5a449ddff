/** Writes big-endian bit fields and pads the last byte with zeros. */
export class BitWriter {
  readonly #bytes: number[] = [];
  #free = 0;

  /** Appends the lowest `count` bits (at most 32) of a non-negative `value`. */
  bits(value: number, count: number): this {
    for (let bit = count - 1; bit >= 0; bit--) {
      if (this.#free === 0) {
        this.#bytes.push(0);
        this.#free = 8;
      }
      this.#free--;
      const last = this.#bytes.length - 1;
      this.#bytes[last] = (this.#bytes[last] ?? 0) | (((value >>> bit) & 1) << this.#free);
    }
    return this;
  }

  flag(value: boolean): this {
    return this.bits(value ? 1 : 0, 1);
  }

  /** ue(v), ITU-T H.264 9.1, for values below 2^31. */
  unsignedExpGolomb(value: number): this {
    const width = 32 - Math.clz32(value + 1);
    return this.bits(0, width - 1).bits(value + 1, width);
  }

  /** se(v), ITU-T H.264 9.1.1. */
  signedExpGolomb(value: number): this {
    return this.unsignedExpGolomb(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Fills the last byte with bits of this kind. */
  align(bit: boolean): this {
    while (this.#free > 0) this.flag(bit);
    return this;
  }

  toBytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}
