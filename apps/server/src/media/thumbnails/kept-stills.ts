import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";

/** Limit for all images together. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Memory per image besides its bytes. */
const ENTRY_BYTES = 200;
/** After this time a failed image is retried: the stream may have had no picture yet, or the store may have been unavailable. */
const NONE_MS = 2_000;

interface Kept<Image> {
  readonly image: Image | null;
  readonly madeAt: number;
}

/** A cache of images. Concurrent requests for the same image share one computation. */
export class KeptStills<Image extends { readonly byteLength: number } = Uint8Array> {
  readonly #clock: Clock;
  readonly #kept = new LRUCache<string, Kept<Image>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ image }) => (image?.byteLength ?? 0) + ENTRY_BYTES,
  });
  readonly #making = new Map<string, Promise<Image | null>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The image under this key, made anew if older than `maxAgeMs`. */
  async get(key: string, maxAgeMs: number, make: () => Promise<Image | null>): Promise<Image | null> {
    const kept = this.#kept.get(key);
    const stands = kept?.image ? maxAgeMs : Math.min(maxAgeMs, NONE_MS);
    if (kept && this.#clock.monotonic() - kept.madeAt < stands) return kept.image;
    const making = this.#making.get(key) ?? this.#make(key, make);
    this.#making.set(key, making);
    return making;
  }

  async #make(key: string, make: () => Promise<Image | null>): Promise<Image | null> {
    try {
      const image = await make();
      this.#kept.set(key, { image, madeAt: this.#clock.monotonic() });
      return image;
    } finally {
      this.#making.delete(key);
    }
  }
}
