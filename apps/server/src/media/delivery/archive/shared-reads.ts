import { LRUCache } from "lru-cache";
import { Turns } from "../../../platform/limits/turns.ts";
import { SharedWork } from "../../../platform/shared-work.ts";
import { PageChain, PageMemory } from "../../page-memory.ts";

const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_AT_ONCE = 32;
const MAX_WAITING = 10_000;

/** Bytes that many read. The last who releases them gives their memory back. */
export class SharedBytes {
  readonly #chain: PageChain;
  #holders = 1;

  constructor(chain: PageChain) {
    this.#chain = chain;
  }

  get byteLength(): number {
    return this.#chain.byteLength;
  }

  /** Valid until `release`. */
  get views(): readonly Uint8Array[] {
    return this.#chain.from(0);
  }

  retain(): void {
    this.#holders++;
  }

  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.#chain.giveBack();
  }
}

/** Fills the memory of `views`. */
type Fill = (views: readonly Uint8Array[]) => Promise<number | null>;

/** Reads of segments that many viewers ask for: one for all who ask at the same time, and kept for those who ask soon after, in 64 MB at most. */
export class SharedReads {
  /** Of its own: each viewer who goes back reads other segments, and V8 collects everything for every 64 MiB of new buffers. */
  readonly #memory = new PageMemory();
  readonly #kept = new LRUCache<string, SharedBytes>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ byteLength }) => Math.max(1, byteLength),
    // Those who have just been answered retain it before.
    dispose: (bytes) => setImmediate(() => bytes.release()),
  });
  readonly #reading = new SharedWork<SharedBytes | null>();
  readonly #turns = new Turns({ atATime: MAX_AT_ONCE, maxWaiting: MAX_WAITING });

  /** Pages that somebody reads, or may soon. */
  get pagesInUse(): number {
    return this.#memory.pagesInUse;
  }

  /**
   * `key` names the same bytes for ever, `length` of them; `fill` reads them and returns how many there were, or null. Null where they are not whole, and
   * else to be released. A read that failed is tried again for the next one who asks.
   */
  async read(key: string, length: number, fill: Fill): Promise<SharedBytes | null> {
    const bytes =
      this.#kept.get(key) ?? (await this.#reading.run(() => this.#turns.run(() => this.#fill(key, length, fill)), key));
    bytes?.retain();
    return bytes;
  }

  async #fill(key: string, length: number, fill: Fill): Promise<SharedBytes | null> {
    const chain = new PageChain(this.#memory);
    let isWhole = false;
    try {
      isWhole = (await fill(chain.grow(length))) === length;
    } finally {
      if (!isWhole) chain.giveBack();
    }
    if (!isWhole) return null;
    const bytes = new SharedBytes(chain);
    this.#kept.set(key, bytes);
    return bytes;
  }
}
