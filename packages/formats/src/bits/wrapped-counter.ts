/** Extends a counter of 16, 32 or 33 bits beyond its range: each value is taken as the nearest to the previous one. */
export class WrappedCounter {
  readonly #range: number;
  #last: number | null = null;

  constructor(bits: 16 | 32 | 33) {
    this.#range = 2 ** bits;
  }

  unwrap(value: number): number {
    if (this.#last === null) {
      this.#last = value;
      return value;
    }
    const range = this.#range;
    let step = (((value - this.#last) % range) + range) % range;
    if (step >= range / 2) step -= range;
    this.#last += step;
    return this.#last;
  }
}
