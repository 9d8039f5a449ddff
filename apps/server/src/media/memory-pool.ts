const SMALLEST = 256;
const LARGEST = 1024 * 1024;
/** Steps between two powers of two: at most an eighth of a buffer is left unused. */
const STEPS_LOG2 = 3;
const MAX_FREE_BYTES = 64 * 1024 * 1024;

/**
 * Memory for packets and parts, used again and again. Media is large and short-lived: left to the garbage collector, fifty streams alone
 * would make it run every second, and each new buffer costs the kernel fresh pages.
 *
 * `release` is for the last holder only: from then on the bytes belong to somebody else. What nobody releases is simply collected, and
 * memory from elsewhere is ignored.
 */
export class MemoryPool {
  readonly #free = new Map<number, ArrayBuffer[]>();
  /** Handed out and not come back: releasing twice does nothing. */
  readonly #lent = new WeakSet<ArrayBufferLike>();
  #freeBytes = 0;

  allocate(bytes: number): Uint8Array {
    if (bytes > LARGEST) return new Uint8Array(bytes);
    const size = sizeClass(bytes);
    const free = this.#free.get(size)?.pop();
    if (free) this.#freeBytes -= size;
    const buffer = free ?? new ArrayBuffer(size);
    this.#lent.add(buffer);
    return new Uint8Array(buffer, 0, bytes);
  }

  release({ buffer }: Uint8Array): void {
    if (!this.#lent.delete(buffer) || this.#freeBytes >= MAX_FREE_BYTES) return;
    const size = buffer.byteLength;
    let free = this.#free.get(size);
    if (!free) {
      free = [];
      this.#free.set(size, free);
    }
    free.push(buffer as ArrayBuffer);
    this.#freeBytes += size;
  }
}

function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = 1 << (31 - Math.clz32(bytes) - STEPS_LOG2);
  return Math.ceil(bytes / step) * step;
}
