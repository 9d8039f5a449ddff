const SMALLEST = 256;
const LARGEST = 256 * 1024;
const MAX_FREE_BYTES = 48 * 1024 * 1024;

/**
 * Memory for packets between ingest and packaging, used again and again. A packet lives for a third of a second; left to the garbage
 * collector, those of fifty streams alone would make it run every few seconds.
 *
 * `release` is for the last holder only: from then on the bytes belong to another packet. A packet that nobody releases is simply
 * collected, and memory from elsewhere is ignored.
 */
export class PayloadPool {
  /** Free buffers by size class: powers of two. */
  readonly #free = new Map<number, ArrayBuffer[]>();
  readonly #ours = new WeakSet<ArrayBufferLike>();
  #freeBytes = 0;

  allocate(bytes: number): Uint8Array {
    if (bytes > LARGEST) return new Uint8Array(bytes);
    const size = bytes <= SMALLEST ? SMALLEST : 2 ** (32 - Math.clz32(bytes - 1));
    const free = this.#free.get(size)?.pop();
    if (free) {
      this.#freeBytes -= size;
      return new Uint8Array(free, 0, bytes);
    }
    const buffer = new ArrayBuffer(size);
    this.#ours.add(buffer);
    return new Uint8Array(buffer, 0, bytes);
  }

  release(data: Uint8Array): void {
    const { buffer } = data;
    if (!this.#ours.has(buffer) || this.#freeBytes >= MAX_FREE_BYTES) return;
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
