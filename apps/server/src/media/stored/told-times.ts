/** A segment that begins so much later or earlier than the durations before it say has its time. */
const MAX_STEP_MS = 500;

/**
 * The times that a recording's playlist tells: of its first segment, behind a discontinuity, and wherever the clock and the durations have come apart, as at a reconnect. shaka-player
 * places segments by their times, and measures the playlist by durations: with a time for each segment, the last one ended some milliseconds before the end, which
 * the player then waited for.
 */
export class ToldTimes {
  /** Of the next segment, as it follows from the last time that was told; null before the first. */
  #expectedMs: number | null = null;

  /** `ms` since the epoch, 0 where a segment has no time. Null where the playlist need not tell it. To be called for each segment in turn. */
  next(ms: number, seconds: number, isBreak: boolean): number | null {
    const isOff = this.#expectedMs === null || Math.abs(ms - this.#expectedMs) > MAX_STEP_MS;
    const isTold = ms > 0 && (isBreak || isOff);
    const begin = isTold ? ms : this.#expectedMs;
    this.#expectedMs = begin === null ? null : begin + seconds * 1000;
    return isTold ? ms : null;
  }
}
