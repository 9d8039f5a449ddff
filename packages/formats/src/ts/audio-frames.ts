const NOTHING = new Uint8Array(0);

export interface AudioFraming {
  /** Bytes that `sizeOf` reads. */
  readonly headBytes: number;
  /** Size of the frame that starts here, with its header; 0 if none does. */
  sizeOf(bytes: Uint8Array, at: number): number;
  /** Takes a whole frame, with its header; returns how long it lasts, in 90 kHz ticks. `bytes` is valid until it returns. */
  frame(bytes: Uint8Array, presentation: number): number;
}

/**
 * Finds the audio frames in PES packets: several may be in one, and one may be in two. The time of a packet is that of the first frame that starts in
 * it (ISO/IEC 13818-1 2.4.3.7). Keeps less than one frame.
 */
export class AudioFrames {
  readonly #framing: AudioFraming;
  #rest: Uint8Array = NOTHING;
  #isSynced = false;
  /** Presentation of the next frame; null before the first time. */
  #next: number | null = null;

  constructor(framing: AudioFraming) {
    this.#framing = framing;
  }

  /** `presentation` is null for a packet without a time. */
  push(payload: Uint8Array, presentation: number | null): void {
    const { headBytes } = this.#framing;
    const first = this.#rest.length;
    const bytes = first === 0 ? payload : new Uint8Array(first + payload.length);
    if (first > 0) {
      bytes.set(this.#rest);
      bytes.set(payload, first);
    }
    let time = presentation;
    let at = 0;
    while (at + headBytes <= bytes.length) {
      const size = this.#framing.sizeOf(bytes, at);
      const next = at + size;
      if (size === 0 || (!this.#isSynced && this.#isOther(bytes, next))) {
        this.#isSynced = false;
        at++;
        continue;
      }
      if (next > bytes.length) break;
      this.#isSynced = true;
      if (at >= first && time !== null) {
        this.#next = time;
        time = null;
      }
      if (this.#next !== null) this.#next += this.#framing.frame(bytes.subarray(at, next), this.#next);
      at = next;
    }
    // The frame that starts in this packet, and is not whole yet.
    if (at >= first && at < bytes.length && time !== null) this.#next = time;
    this.#rest = at < bytes.length ? bytes.slice(at) : NOTHING;
  }

  lost(): void {
    this.#rest = NOTHING;
    this.#isSynced = false;
  }

  /** What looks like a header is one only if another frame follows, as far as the bytes go. */
  #isOther(bytes: Uint8Array, at: number): boolean {
    return at + this.#framing.headBytes <= bytes.length && this.#framing.sizeOf(bytes, at) === 0;
  }
}
