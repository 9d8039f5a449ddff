import { LRUCache } from "lru-cache";
import { Turns } from "../../../platform/limits/turns.ts";
import { SharedWork } from "../../../platform/shared-work.ts";

const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_AT_ONCE = 32;
const MAX_WAITING = 10_000;

/** Reads of segments that many viewers ask for: one for all who ask at the same time, and kept for those who ask soon after, in 64 MB at most. */
export class SharedReads {
  readonly #kept = new LRUCache<string, Uint8Array>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ byteLength }) => Math.max(1, byteLength),
  });
  readonly #reading = new SharedWork<Uint8Array>();
  readonly #turns = new Turns({ atATime: MAX_AT_ONCE, maxWaiting: MAX_WAITING });

  /** `key` names the same bytes for ever. A read that failed is tried again for the next one who asks. */
  read(key: string, read: () => AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    const kept = this.#kept.get(key);
    if (kept) return Promise.resolve(kept);
    const readAll = async (): Promise<Uint8Array> => {
      const pieces: Uint8Array[] = [];
      for await (const piece of read()) pieces.push(piece);
      const bytes = Buffer.concat(pieces);
      this.#kept.set(key, bytes);
      return bytes;
    };
    return this.#reading.run(() => this.#turns.run(readAll), key);
  }
}
