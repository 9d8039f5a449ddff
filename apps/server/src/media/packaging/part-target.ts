const FAST_SECONDS = 0.334;
const SLOW_SECONDS = 0.5;
const SLOWEST_SECONDS = 1;
/** RFC 8216bis 4.4.4.9: a part that is neither independent nor last lasts at least 85 % of the target. */
const LEAST_FILL = 0.85;
const LADDER_HOLD_BACK = 1.5;
const SLOW_FRAME_SECONDS = 1 / 12;
/** Sources count in milliseconds: a frame may look this much longer than it is. */
const ROUNDING_SECONDS = 0.001;

/**
 * How long the parts of a timeline are at most, in seconds: one constant for all its renditions (EXT-X-PART-INF), 0.334 s, or 0.5 or 1 s
 * where fewer than 12 frames come a second. Undecided until the first frame duration is known.
 */
export class PartTarget {
  #seconds: number | null = null;
  /** With rungs, players keep a little further back: a rung comes later than its source. */
  hasLadder = false;

  get seconds(): number | null {
    return this.#seconds;
  }

  /** What playlists say; hold-back is at least three part targets (RFC 8216bis 4.4.3.8). */
  get holdBackSeconds(): number {
    const least = this.hasLadder ? LADDER_HOLD_BACK : 0;
    const seconds = this.#seconds ?? FAST_SECONDS;
    return Math.max(least, Math.ceil(seconds * 300 + 0.5) / 100);
  }

  decideByFrame(frameSeconds: number): void {
    if (this.#seconds !== null) return;
    const frame = frameSeconds - ROUNDING_SECONDS;
    if (frame <= SLOW_FRAME_SECONDS) this.#seconds = FAST_SECONDS;
    else
      this.#seconds =
        Math.floor(SLOW_SECONDS / frame) * frame >= SLOW_SECONDS * LEAST_FILL ? SLOW_SECONDS : SLOWEST_SECONDS;
  }

  decideByAudio(): void {
    this.#seconds ??= FAST_SECONDS;
  }
}
