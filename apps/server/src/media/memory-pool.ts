import { PageMemory } from "./page-memory.ts";

const SMALLEST = 256;
const LARGEST = 1024 * 1024;
/** Steps between two powers of two: at most a sixteenth of a buffer is left unused. */
const STEPS_LOG2 = 4;
/** Two hundred streams need half of it. More is left by senders that wait for a slow database, and is not needed again. */
const MAX_FREE_BYTES = 16 * 1024 * 1024;

/** A buffer of a pool. Marked while it is handed out, so that releasing twice, or something foreign, does nothing. */
type PooledBuffer = ArrayBufferLike & { isLent?: boolean };

/**
 * Memory for packets, used again and again. Media is large and short-lived: left to the garbage collector, fifty streams alone
 * would make it run every second, and each new buffer costs the kernel fresh pages.
 *
 * `release` is for the last holder only: from then on the bytes belong to somebody else. Memory that nobody releases is simply collected.
 */
export class MemoryPool {
  readonly #free = new Map<number, PooledBuffer[]>();
  #freeBytes = 0;

  allocate(bytes: number): Uint8Array {
    if (bytes > LARGEST) return new Uint8Array(bytes);
    const size = sizeClass(bytes);
    let buffer = this.#free.get(size)?.pop();
    if (buffer) this.#freeBytes -= size;
    else buffer = Buffer.allocUnsafeSlow(size).buffer;
    buffer.isLent = true;
    return new Uint8Array(buffer, 0, bytes);
  }

  release(bytes: Uint8Array): void {
    const buffer: PooledBuffer = bytes.buffer;
    if (buffer.isLent !== true || this.#freeBytes >= MAX_FREE_BYTES) return;
    buffer.isLent = false;
    const size = buffer.byteLength;
    let free = this.#free.get(size);
    if (!free) {
      free = [];
      this.#free.set(size, free);
    }
    free.push(buffer);
    this.#freeBytes += size;
  }
}

function sizeClass(bytes: number): number {
  if (bytes <= SMALLEST) return SMALLEST;
  const step = 1 << (31 - Math.clz32(bytes) - STEPS_LOG2);
  return Math.ceil(bytes / step) * step;
}

/** The two kinds of memory that media lives in on its way through a node. */
export interface MediaMemory {
  /** From ingest until packaged. */
  readonly packets: MemoryPool;
  /** The live windows. */
  readonly parts: PageMemory;
}

export function openMediaMemory(): MediaMemory {
  return { packets: new MemoryPool(), parts: new PageMemory() };
}
