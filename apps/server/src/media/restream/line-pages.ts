import { Payload, type PayloadMemory } from "../packet.ts";

const PAGE_BYTES = 256 * 1024;
/** Free pages that are kept. */
const MAX_FREE_PAGES = 32;
/** The next run may be so many times as long as the last one. */
const ROOM = 1.5;

/**
 * The memory of all lines of a node, in pages that are used again when the last target has what stands in them. New pages would be less
 * work here and much more elsewhere: each is a reason for V8 to collect, and it goes through the whole server's heap.
 */
export class LineMemory {
  readonly #free: LinePage[] = [];
  #made = 0;

  /** Pages that there ever were. */
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

/** A page is free when the line has left it and each of its runs is released. A run that is never released costs memory until it is collected, and no longer. */
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

/** Memory that a line writes into, one message behind the other, so that what it gathered is one run of bytes for all of its targets. */
export class LinePages {
  readonly #memory: LineMemory;
  readonly #onFull: (run: Payload) => void;
  #page: LinePage | null = null;
  #from = 0;
  #to = 0;

  /** `onFull` gets what was gathered where the next message does not fit behind it. */
  constructor(memory: LineMemory, onFull: (run: Payload) => void) {
    this.#memory = memory;
    this.#onFull = onFull;
  }

  /** Bytes gathered since they were last taken. */
  get gathered(): number {
    return this.#to - this.#from;
  }

  /** Room for a message of exactly this many bytes, to be written at once. */
  room(bytes: number): Uint8Array {
    if (this.#page && this.#to + bytes > this.#page.bytes.byteLength) {
      if (this.gathered > 0) this.#onFull(this.take());
      this.close();
    }
    const page = this.#page ?? this.#begin(bytes);
    const from = this.#to;
    this.#to += bytes;
    return page.bytes.subarray(from, this.#to);
  }

  /** The gathered bytes, which the caller releases. Where as much again would hardly fit, a new page is begun, so that what belongs together is seldom parted. */
  take(): Payload {
    const page = this.#page;
    if (!page || this.gathered === 0) throw new Error("a line has gathered nothing");
    page.retain();
    const run = new Payload(page.bytes.subarray(this.#from, this.#to), page);
    this.#from = this.#to;
    if (page.bytes.byteLength - this.#to < ROOM * run.byteLength) this.close();
    return run;
  }

  /** Leave the page; what was gathered in it and not taken is lost. */
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
