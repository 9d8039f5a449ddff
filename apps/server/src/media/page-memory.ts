import { loadPageRelease, type ReleasePages } from "../platform/page-release.ts";

export const PAGE_BYTES = 32 * 1024;
const SLAB_BYTES = 4 * 1024 * 1024;
const PAGES_A_SLAB = SLAB_BYTES / PAGE_BYTES;
/** Slabs without a page in use whose memory is kept, so that a live window that grows and shrinks takes nothing from the system. */
const RESERVED_SLABS = 4;
/**
 * Slabs are carved from one buffer, which has three times as many as there are. V8 starts a full collection for every 64 MiB of new buffers, however little
 * JavaScript there is, but only one for a larger buffer. Memory that nobody has written to costs the system nothing.
 */
const NEW_SLABS_TIMES = 3;
/** Half of what V8 counts, so that the first streams cause no such collection. */
const MIN_NEW_SLABS = 8;
const MAX_NEW_SLABS = 256;

/** A piece of memory of `PAGE_BYTES`. */
export interface Page {
  readonly bytes: Uint8Array;
  readonly slab: Slab;
  /** Its place in the slab. */
  readonly index: number;
}

class Slab {
  readonly #bytes: Buffer;
  readonly #free: Page[] = [];
  /** Pages are made when they are first taken: those of many new slabs at once would hold up the event loop. */
  #pagesMade = 0;

  constructor(buffer: ArrayBuffer, start: number) {
    this.#bytes = Buffer.from(buffer, start, SLAB_BYTES);
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Only where one is free. */
  take(): Page {
    const page = this.#free.pop();
    if (page) return page;
    const index = this.#pagesMade++;
    return { bytes: this.view(index * PAGE_BYTES, PAGE_BYTES), slab: this, index };
  }

  put(page: Page): void {
    this.#free.push(page);
  }

  /** As a Buffer, since Node makes one of any other view, each time that it sends it. */
  view(start: number, size: number): Uint8Array {
    return this.#bytes.subarray(start, start + size);
  }

  get isUnused(): boolean {
    return this.#free.length === this.#pagesMade;
  }

  get isFull(): boolean {
    return this.#free.length === 0 && this.#pagesMade === PAGES_A_SLAB;
  }
}

/**
 * Memory for the live windows: pages of one size, so that any page fits what comes next and nothing is lost between them. They are carved
 * from slabs. The memory of a slab without a page in use goes back to the system at once; its addresses stay, to be used again. V8 sees a few large
 * buffers that live for ever.
 */
export class PageMemory {
  readonly #loadRelease: typeof loadPageRelease;
  /** Null until it is loaded: memory stays until then. */
  #release: ReleasePages | null = null;
  /** Slabs with a free page. Those that got one last come last, so that they may run empty. */
  readonly #open = new Set<Slab>();
  /** Slabs without memory. */
  readonly #empty: Slab[] = [];
  /** A forgotten release costs memory until the collector comes, and no longer. */
  readonly #forgotten = new FinalizationRegistry<Page[]>((pages) => this.giveAllBack(pages));
  #unusedSlabs = 0;
  #pagesInUse = 0;
  #slabs = 0;

  constructor(loadRelease = loadPageRelease) {
    this.#loadRelease = loadRelease;
  }

  get pagesInUse(): number {
    return this.#pagesInUse;
  }

  /** Of slabs that may have memory. */
  get pagesFree(): number {
    return (this.#slabs - this.#empty.length) * PAGES_A_SLAB - this.#pagesInUse;
  }

  take(): Page {
    const slab = this.#open.values().next().value ?? this.#openSlab();
    if (this.#unusedSlabs > 0 && slab.isUnused) this.#unusedSlabs--;
    const page = slab.take();
    if (slab.isFull) this.#open.delete(slab);
    this.#pagesInUse++;
    return page;
  }

  giveBack(page: Page): void {
    const { slab } = page;
    slab.put(page);
    this.#pagesInUse--;
    this.#open.add(slab);
    if (!slab.isUnused) return;
    // Slabs in use are filled first.
    this.#open.delete(slab);
    if (this.#unusedSlabs < RESERVED_SLABS) {
      this.#unusedSlabs++;
      this.#open.add(slab);
      return;
    }
    this.#release?.(slab.bytes);
    this.#empty.push(slab);
  }

  /** The last first: neighbours are taken again as neighbours, and `PageChain.from` makes one view of them. */
  giveAllBack(pages: Page[]): void {
    for (const page of pages.splice(0).reverse()) this.giveBack(page);
  }

  /** Give `pages` back when nobody can reach `owner` any more. */
  watch(owner: object, pages: Page[]): void {
    this.#forgotten.register(owner, pages);
  }

  #openSlab(): Slab {
    if (this.#empty.length === 0) this.#makeSlabs();
    const slab = this.#empty.pop();
    if (!slab) throw new Error("there is no slab with a free page");
    this.#open.add(slab);
    this.#unusedSlabs++;
    return slab;
  }

  #makeSlabs(): void {
    if (this.#slabs === 0) void this.#load();
    const count = Math.min(MAX_NEW_SLABS, Math.max(MIN_NEW_SLABS, NEW_SLABS_TIMES * this.#slabs));
    const buffer = newBuffer(count);
    for (let start = buffer.byteLength - SLAB_BYTES; start >= 0; start -= SLAB_BYTES)
      this.#empty.push(new Slab(buffer, start));
    this.#slabs += buffer.byteLength / SLAB_BYTES;
  }

  async #load(): Promise<void> {
    this.#release = await this.#loadRelease();
  }
}

/** Fewer slabs where the system grants no more addresses. */
function newBuffer(slabs: number): ArrayBuffer {
  const bytes = slabs * SLAB_BYTES;
  try {
    // One that could shrink is made of pages that nobody has written to; others may be filled with zeros.
    return new ArrayBuffer(bytes, { maxByteLength: bytes });
  } catch (error) {
    if (slabs <= MIN_NEW_SLABS) throw error;
    return newBuffer(MIN_NEW_SLABS);
  }
}

/** Bytes in pages, one after the other. They grow at their end until all of them are given back. */
export class PageChain {
  readonly #memory: PageMemory;
  readonly #pages: Page[] = [];
  #byteLength = 0;

  constructor(memory: PageMemory) {
    this.#memory = memory;
    memory.watch(this, this.#pages);
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  /** Copy `bytes` to the end. */
  append(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.byteLength; ) {
      const at = this.#byteLength % PAGE_BYTES;
      if (at === 0) this.#pages.push(this.#memory.take());
      const page = this.#page(this.#pages.length - 1);
      const size = Math.min(PAGE_BYTES - at, bytes.byteLength - done);
      page.bytes.set(size === bytes.byteLength ? bytes : bytes.subarray(done, done + size), at);
      done += size;
      this.#byteLength += size;
    }
  }

  /** Add `bytes` bytes of any content to the end. Returns their views, to be filled. */
  grow(bytes: number): Uint8Array[] {
    const start = this.#byteLength;
    this.#byteLength += bytes;
    while (this.#pages.length * PAGE_BYTES < this.#byteLength) this.#pages.push(this.#memory.take());
    return this.from(start);
  }

  /** The bytes from `start` to the end, a view for each run of neighbouring pages: each view costs those who send it. */
  from(start: number): Uint8Array[] {
    const views: Uint8Array[] = [];
    for (let at = start; at < this.#byteLength; ) {
      const first = Math.floor(at / PAGE_BYTES);
      const offset = at % PAGE_BYTES;
      const size = Math.min(this.#runFrom(first) * PAGE_BYTES - offset, this.#byteLength - at);
      views.push(this.#page(first).slab.view(this.#page(first).index * PAGE_BYTES + offset, size));
      at += size;
    }
    return views;
  }

  /** How many pages from this one on lie side by side in memory. */
  #runFrom(first: number): number {
    const { slab, index } = this.#page(first);
    let pages = 1;
    for (let next = this.#pages[first + 1]; next?.slab === slab && next.index === index + pages; ) {
      pages++;
      next = this.#pages[first + pages];
    }
    return pages;
  }

  #page(at: number): Page {
    const page = this.#pages[at];
    if (!page) throw new Error("a chain has bytes but no page");
    return page;
  }

  /** Nobody reads the bytes any more: the pages are used again. */
  giveBack(): void {
    this.#memory.giveAllBack(this.#pages);
    this.#byteLength = 0;
  }
}
