import { LRUCache } from "lru-cache";
import type { Clock } from "../../platform/clock.ts";
import { TooManyWaiting } from "../../platform/limits/turns.ts";
import { SharedWork } from "../../platform/shared-work.ts";

/** Limit for all images together. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Memory per image besides its bytes. */
const ENTRY_BYTES = 200;
/** A failed image is retried after the first delay, then after twice as long each time: on a busy machine every attempt makes the others slower. */
const RETRY_MS = { first: 2_000, most: 60_000 } as const;
/** A request for which there is an older image waits only this long for the newer one. */
const RENEWAL_MS = 1_000;

interface Kept<Image> {
  /** The newest image that was made; null if none was. */
  readonly image: Image | null;
  readonly madeAt: number;
  /** Failures since then. */
  readonly failures: number;
  readonly retryAt: number;
}

/** A cache of images. Concurrent requests for the same image share one computation, and get the last image when that fails or is slow. */
export class KeptStills<Image extends { readonly byteLength: number } = Uint8Array> {
  readonly #clock: Clock;
  readonly #answerMs: number;
  readonly #kept = new LRUCache<string, Kept<Image>>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ image }) => (image?.byteLength ?? 0) + ENTRY_BYTES,
  });
  readonly #making = new SharedWork<Image | null>();

  /** `answerMs`: how long a request waits for its first image. The image is made to the end nevertheless, for the next request. */
  constructor(clock: Clock, answerMs: number) {
    this.#clock = clock;
    this.#answerMs = answerMs;
  }

  /** The image under this key, made anew if older than `maxAgeMs`. Rejects with `TooManyWaiting` if the first one takes too long. */
  async get(key: string, maxAgeMs: number, make: () => Promise<Image | null>): Promise<Image | null> {
    const kept = this.#kept.get(key);
    const now = this.#clock.monotonic();
    if (kept && (now < kept.retryAt || (kept.image && now - kept.madeAt < maxAgeMs))) return kept.image;
    const making = this.#making.run(() => this.#make(key, make, kept), key);
    const last = kept?.image;
    if (!last)
      return this.#within(this.#answerMs, making, () => Promise.reject(new TooManyWaiting("an image takes long")));
    return this.#within(
      RENEWAL_MS,
      making.catch(() => last),
      () => Promise.resolve(last),
    );
  }

  async #make(key: string, make: () => Promise<Image | null>, before: Kept<Image> | undefined): Promise<Image | null> {
    const image = await make();
    const now = this.#clock.monotonic();
    const kept = image ? { image, madeAt: now, failures: 0, retryAt: 0 } : failed(before, now);
    this.#kept.set(key, kept);
    return kept.image;
  }

  async #within<T>(ms: number, made: Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(ms, resolve);
    try {
      return await Promise.race([made, late.then(otherwise)]);
    } finally {
      timer.cancel();
    }
  }
}

/** The last image stays, and the next attempt is further away. */
function failed<Image>(before: Kept<Image> | undefined, now: number): Kept<Image> {
  const failures = (before?.failures ?? 0) + 1;
  const delay = Math.min(RETRY_MS.first * 2 ** (failures - 1), RETRY_MS.most);
  return { image: before?.image ?? null, madeAt: before?.madeAt ?? now, failures, retryAt: now + delay };
}
