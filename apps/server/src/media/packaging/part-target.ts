const FAST_SECONDS = 0.334;
const SLOW_SECONDS = 0.5;
const SLOWEST_SECONDS = 1;
const SLOW_FRAME_SECONDS = 1 / 12;

/**
 * How long the parts of a timeline are at most, in seconds: one constant for all its renditions (EXT-X-PART-INF), 0.334 s, or 0.5 or 1 s
 * where fewer than 12 frames come a second. Undecided until the first frame duration is known.
 */
export class PartTarget {
  #seconds: number | null = null;

  get seconds(): number | null {
    return this.#seconds;
  }

  /** What playlists say; hold-back is at least three part targets (RFC 8216bis 4.4.3.8). */
  get holdBackSeconds(): number {
    return this.#seconds === null || this.#seconds === FAST_SECONDS ? 1.01 : this.#seconds * 3 + 0.01;
  }

  decideByFrame(frameSeconds: number): void {
    this.#seconds ??=
      frameSeconds <= SLOW_FRAME_SECONDS + 0.001 ? FAST_SECONDS : frameSeconds <= 0.26 ? SLOW_SECONDS : SLOWEST_SECONDS;
  }

  decideByAudio(): void {
    this.#seconds ??= FAST_SECONDS;
  }
}
