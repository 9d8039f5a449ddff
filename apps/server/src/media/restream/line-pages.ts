const PAGE_BYTES = 256 * 1024;
/** The next run may be so many times as long as the last one. */
const ROOM = 1.5;
const NO_PAGE = new Uint8Array(0);

/** Memory that a line writes into, one message behind the other, so that what it gathered is one run of bytes for all of its targets. */
export class LinePages {
  readonly #onFull: (bytes: Uint8Array) => void;
  #page: Uint8Array = NO_PAGE;
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

  /** The gathered bytes. Where as much again would hardly fit, a new page is begun, so that what belongs together is seldom parted. */
  take(): Uint8Array {
    const bytes = this.#page.subarray(this.#from, this.#to);
    this.#from = this.#to;
    if (this.#page.byteLength - this.#to < ROOM * bytes.byteLength) this.#page = NO_PAGE;
    return bytes;
  }
}
