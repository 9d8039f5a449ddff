import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";

/** Of all images together. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Beside its bytes. */
const ENTRY_BYTES = 200;
/** An image that could not be made is tried again after this time: a stream may have had no picture yet, or its store may have been away. */
const NONE_MS = 2_000;

interface Kept<Image> {
  readonly image: Image | null;
  readonly madeAt: number;
}

/** Images that were made, as many as fit. All who want the same one at the same moment share its making. */
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

  /** The image under this key, made again when it is older than `maxAgeMs`. */
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
