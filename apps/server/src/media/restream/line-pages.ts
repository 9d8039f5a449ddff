const PAGE_BYTES = 256 * 1024;

/** Memory that a line writes into, one message behind the other, so that what it gathered is one run of bytes for all of its targets. */
export class LinePages {
  readonly #onFull: (bytes: Uint8Array) => void;
  #page = new Uint8Array(0);
  #from = 0;
  #to = 0;

  /** `onFull` gets what was gathered where the next message does not fit behind it. */
  constructor(onFull: (bytes: Uint8Array) => void) {
    this.#onFull = onFull;
  }

  /** Bytes gathered since they were last taken. */
  get gathered(): number {
    return this.#to - this.#from;
  }

  /** Room for a message of exactly this many bytes, to be written at once. */
  room(bytes: number): Uint8Array {
    if (this.#to + bytes > this.#page.byteLength) {
      if (this.gathered > 0) this.#onFull(this.take());
      this.#page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, bytes));
      this.#from = 0;
      this.#to = 0;
    }
    const from = this.#to;
    this.#to += bytes;
    return this.#page.subarray(from, this.#to);
  }

  /** What was gathered. */
  take(): Uint8Array {
    const bytes = this.#page.subarray(this.#from, this.#to);
    this.#from = this.#to;
    return bytes;
  }
}
