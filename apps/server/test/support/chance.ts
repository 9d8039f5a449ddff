/** Choices that look random, and are the same for the same seed (mulberry32). */
export class Chance {
  #state: number;

  /** `seed`: a whole number. Seeds beside each other choose nothing alike. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 to `end`, without `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** Throws if there is nothing to choose from. */
  of<Choice>(choices: readonly Choice[]): Choice {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error("nothing to choose from");
    return choice;
  }

  /** Whole milliseconds, both ends included. */
  ms(from: number, to: number): number {
    return Math.round(from + this.next() * (to - from));
  }
}
