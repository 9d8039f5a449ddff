import { TICKS_PER_SECOND } from "../packet.ts";

const SEGMENT_TICKS = 2 * TICKS_PER_SECOND;
const LONGEST_TICKS = 4 * TICKS_PER_SECOND;
/** RTMP stamps whole milliseconds: a GOP of exactly 2 s may look 1 ms short, and must not become a segment of 4 s. */
const ROUNDING_TICKS = 10 * 90;
/** A segment that holds so much ends early, at any frame. 32 MiB in 4 s are 67 Mbit/s. */
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
/** For a clock that hardly moves while small packets come. */
const MAX_SEGMENT_SAMPLES = 4000;

/** Seconds that no segment's duration rounds above: the playlist's TARGETDURATION, a constant of every timeline. */
export const TARGET_DURATION_SECONDS = 4;

/**
 * Decides where segments begin: at the first IDR 2 s or more after the last cut, at any frame 4 s after it, and every 2 s of audio where
 * there is no video. A segment that is full is cut at any frame, whatever the source's clock says.
 */
export class Cutter {
  #last: number;
  #msn: number;
  #bytes = 0;
  #samples = 0;

  constructor(firstMsn: number, ticks: number) {
    this.#msn = firstMsn;
    this.#last = ticks;
  }

  /** Media sequence number that the next cut will have. */
  get nextMsn(): number {
    return this.#msn;
  }

  get lastTicks(): number {
    return this.#last;
  }

  wantsVideoCut(ticks: number, isIndependent: boolean): boolean {
    const since = ticks - this.#last;
    return since >= LONGEST_TICKS || this.#isFull || (isIndependent && since >= SEGMENT_TICKS - ROUNDING_TICKS);
  }

  wantsAudioCut(ticks: number): boolean {
    return ticks - this.#last >= SEGMENT_TICKS || this.#isFull;
  }

  /** A sample of any track went into the segment. */
  count(bytes: number): void {
    this.#bytes += bytes;
    this.#samples++;
  }

  /** Cut here; returns the MSN of the segment that begins. */
  cut(ticks: number): number {
    this.#last = ticks;
    this.#bytes = 0;
    this.#samples = 0;
    return this.#msn++;
  }

  get #isFull(): boolean {
    return this.#bytes >= MAX_SEGMENT_BYTES || this.#samples >= MAX_SEGMENT_SAMPLES;
  }
}
