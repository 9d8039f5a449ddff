const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The frames that a transcoder was sent since the source's last IDR, and the cut that the segment began with: what brings a fresh child to
 * where the one before it died.
 */
export class GopCache {
  #cut: Uint8Array | null = null;
  #frames: Uint8Array[] = [];
  #bytes = 0;
  /** Nothing can be replayed before the next IDR. */
  #isBroken = true;

  /** In the order in which they were sent. */
  get frames(): readonly Uint8Array[] {
    if (this.#isBroken) return this.#cut ? [this.#cut] : [];
    return this.#frames;
  }

  /** The frame of a cut, which is sent before the packet it concerns. */
  cut(frame: Uint8Array): void {
    this.#cut = frame;
    if (!this.#isBroken) this.#add(frame);
  }

  packet(frame: Uint8Array, isIndependent: boolean): void {
    if (isIndependent) {
      this.#frames = this.#cut ? [this.#cut] : [];
      this.#bytes = 0;
      this.#isBroken = false;
    }
    if (!this.#isBroken) this.#add(frame);
  }

  #add(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.#bytes += frame.byteLength;
    if (this.#bytes > MAX_BYTES) this.clear();
  }

  clear(): void {
    this.#frames = [];
    this.#bytes = 0;
    this.#isBroken = true;
  }
}
