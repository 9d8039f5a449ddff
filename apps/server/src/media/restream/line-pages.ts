import { Payload, type PayloadMemory } from "../packet.ts";

const PAGE_BYTES = 256 * 1024;
/** Number of free pages kept for reuse: 16 MiB. Twenty lines with slow targets free more than half of that at a time. */
const MAX_FREE_PAGES = 64;
/** A page is left if its remainder is shorter than the last run times this. */
const MIN_REMAINDER = 1.5;

/**
 * The memory of all lines of a node, in pages that are reused once the last target has read them. Allocating new pages would cost less here but more
 * elsewhere: external memory triggers V8's garbage collector, which then traverses the whole heap.
 */
export class LineMemory {
  readonly #free: LinePage[] = [];
  #made = 0;

  /** Number of pages ever allocated. */
  get made(): number {
    return this.#made;
  }

  take(bytes: number): LinePage {
    const page = bytes <= PAGE_BYTES ? this.#free.pop() : undefined;
    if (page) return page;
    this.#made++;
    return new LinePage(Math.max(PAGE_BYTES, bytes), (freed) => this.#giveBack(freed));
  }

  #giveBack(page: LinePage): void {
    if (page.bytes.byteLength === PAGE_BYTES && this.#free.length < MAX_FREE_PAGES) this.#free.push(page);
  }
}

/**
 * A page is free when the line has left it and all its runs are released. A run that is never released costs memory only until it is
 * garbage-collected.
 */
class LinePage implements PayloadMemory {
  readonly bytes: Uint8Array;
  readonly #onFree: (page: LinePage) => void;
  #users = 0;

  constructor(bytes: number, onFree: (page: LinePage) => void) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
    this.#onFree = onFree;
  }

  retain(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users === 0) this.#onFree(this);
  }
}

/** Memory that a line writes messages into, one after the other, so that its output is one run of bytes for all targets. */
export class LinePages {
  readonly #memory: LineMemory;
  readonly #onFull: (run: Payload) => void;
  #page: LinePage | null = null;
  #from = 0;
  #to = 0;

  /** `onFull` gets the collected run when the next message does not fit into the page. */
  constructor(memory: LineMemory, onFull: (run: Payload) => void) {
    this.#memory = memory;
    this.#onFull = onFull;
  }

  /** Bytes collected since the last `take`. */
  get gathered(): number {
    return this.#to - this.#from;
  }

  /** Memory for a message of exactly this size, which the caller must write immediately. */
  allocate(bytes: number): Uint8Array {
    if (this.#page && this.#to + bytes > this.#page.bytes.byteLength) {
      if (this.gathered > 0) this.#onFull(this.take());
      this.close();
    }
    const page = this.#page ?? this.#begin(bytes);
    const from = this.#to;
    this.#to += bytes;
    return new Uint8Array(page.bytes.buffer, from, bytes);
  }

  /**
   * Returns the collected bytes, which the caller must release. If another run of this size would hardly fit, the page is left, so that a batch is
   * rarely split.
   */
  take(): Payload {
    const page = this.#page;
    if (!page || this.gathered === 0) throw new Error("a line has gathered nothing");
    page.retain();
    const run = new Payload(page.bytes.subarray(this.#from, this.#to), page);
    this.#from = this.#to;
    if (page.bytes.byteLength - this.#to < MIN_REMAINDER * run.byteLength) this.close();
    return run;
  }

  /** Leaves the page. Collected bytes that were not taken are lost. */
  close(): void {
    this.#page?.release();
    this.#page = null;
    this.#from = 0;
    this.#to = 0;
  }

  #begin(bytes: number): LinePage {
    const page = this.#memory.take(bytes);
    page.retain();
    this.#page = page;
    return page;
  }
}
