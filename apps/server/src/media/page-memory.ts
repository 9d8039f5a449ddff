export const PAGE_BYTES = 32 * 1024;
const SLAB_BYTES = 4 * 1024 * 1024;
const PAGES_A_SLAB = SLAB_BYTES / PAGE_BYTES;
/** Slabs without a page in use that are kept, so that a live window that grows and shrinks takes nothing from the system. */
const RESERVED_SLABS = 4;
/**
 * As many slabs are made at a time as there are. V8 starts a full collection for every 64 MiB of new buffers, however little JavaScript there
 * is, and for many at once only one. Memory that nobody has written to costs the system nothing.
 */
const MIN_NEW_SLABS = 4;
const MAX_NEW_SLABS = 32;

/** A piece of memory of `PAGE_BYTES`. */
export interface Page {
  readonly bytes: Uint8Array;
  readonly slab: Slab;
  /** Its place in the slab. */
  readonly index: number;
}

class Slab {
  readonly #buffer = new ArrayBuffer(SLAB_BYTES, { maxByteLength: SLAB_BYTES });
  readonly #free: Page[] = [];
  /** Pages are made when they are first taken: those of many new slabs at once would hold up the event loop. */
  #pagesMade = 0;

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
    return Buffer.from(this.#buffer, start, size);
  }

  get isUnused(): boolean {
    return this.#free.length === this.#pagesMade;
  }

  get isFull(): boolean {
    return this.#free.length === 0 && this.#pagesMade === PAGES_A_SLAB;
  }

  /** At once, and not when the collector comes: the pages of an empty buffer are the system's again. */
  giveBack(): void {
    this.#buffer.resize(0);
  }
}

/**
 * Memory for the live windows: pages of one size, so that any page fits what comes next and nothing is lost between them. They are carved
 * from slabs, and a slab without a page in use goes back to the system at once. V8 sees a few large buffers that live long.
 */
export class PageMemory {
  /** Slabs with a free page. Those that got one last come last, so that they may run empty. */
  readonly #open = new Set<Slab>();
  /** A forgotten release costs memory until the collector comes, and no longer. */
  readonly #forgotten = new FinalizationRegistry<Page[]>((pages) => this.giveAllBack(pages));
  #unusedSlabs = 0;
  #pagesInUse = 0;
  #slabs = 0;

  get pagesInUse(): number {
    return this.#pagesInUse;
  }

  get pagesFree(): number {
    return this.#slabs * PAGES_A_SLAB - this.#pagesInUse;
  }

  take(): Page {
    if (this.#open.size === 0) this.#makeSlabs();
    const [slab] = this.#open;
    if (!slab) throw new Error("there is no slab with a free page");
    if (slab.isUnused) this.#unusedSlabs--;
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
    if (this.#unusedSlabs < RESERVED_SLABS) {
      this.#unusedSlabs++;
      // Slabs in use are filled first.
      this.#open.delete(slab);
      this.#open.add(slab);
      return;
    }
    this.#open.delete(slab);
    this.#slabs--;
    slab.giveBack();
  }

  /** The last first: neighbours are taken again as neighbours, and `PageChain.from` makes one view of them. */
  giveAllBack(pages: Page[]): void {
    for (const page of pages.splice(0).reverse()) this.giveBack(page);
  }

  /** Give `pages` back when nobody can reach `owner` any more. */
  watch(owner: object, pages: Page[]): void {
    this.#forgotten.register(owner, pages);
  }

  #makeSlabs(): void {
    const count = Math.min(MAX_NEW_SLABS, Math.max(MIN_NEW_SLABS, this.#slabs));
    for (let made = 0; made < count; made++) this.#open.add(new Slab());
    this.#slabs += count;
    this.#unusedSlabs += count;
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
