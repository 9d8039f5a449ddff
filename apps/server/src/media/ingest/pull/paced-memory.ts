/** Each pull may keep so much, whatever the others do: a keyframe of a stream in 4K, and a second of most. */
const OWN_BYTES = 512 * 1024;
/** No pull keeps more: ten seconds at 6 Mbit/s. */
const MAX_OWN_BYTES = 8 * 1024 * 1024;
/** Of all pulls of a node together. Beyond it, each reads on when it has less than its own. */
const MAX_SHARED_BYTES = 256 * 1024 * 1024;

/** What the pulls of a node have read and not yet passed on. The bounds of packets on their way are per publisher, and end where these are passed on. */
export class PacedMemory {
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Whether `bytes` more may be kept of what cannot be read later, such as the index of a file. */
  hasShared(bytes: number): boolean {
    return this.#bytes + bytes <= MAX_SHARED_BYTES;
  }

  /** Whether a pull that keeps `own` bytes may read on. One that may not looks again each time that it has passed on packets. */
  hasRoom(own: number): boolean {
    return own < OWN_BYTES || (own < MAX_OWN_BYTES && this.#bytes < MAX_SHARED_BYTES);
  }
}
