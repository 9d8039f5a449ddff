import { TICKS_PER_SECOND } from "../packet.ts";
import type { TargetDuration } from "./target-duration.ts";

const SEGMENT_TICKS = 2 * TICKS_PER_SECOND;
/** A segment that ends so much early is not worth the next keyframe: keyframes of 2 s may come 40 ms early or late. */
const EARLY_TICKS = TICKS_PER_SECOND / 4;
/** A duration rounds to the target up to half a second more; a little of that is for frames that last longer than the one before. */
const LATE_TICKS = 0.48 * TICKS_PER_SECOND;
/** A segment that holds so much ends early, at any frame. 32 MiB in 4 s are 67 Mbit/s. */
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
/** For a clock that hardly moves while small packets come. */
const MAX_SEGMENT_SAMPLES = 4000;

/**
 * Decides where segments begin: at the first IDR about 2 s after the last cut, or at an earlier one where the next would come too late; at any
 * frame where a longer segment would not round to the target duration; and every 2 s of audio where there is no video. A segment that is full
 * is cut at any frame, whatever the source's clock says.
 */
export class Cutter {
  #last: number;
  #msn: number;
  #bytes = 0;
  #samples = 0;
  readonly #target: Pick<TargetDuration, "seconds">;
  #lastIdr: number | null = null;
  #gopTicks = 0;
  #longestGopTicks = 0;

  constructor(firstMsn: number, ticks: number, target: Pick<TargetDuration, "seconds">) {
    this.#msn = firstMsn;
    this.#last = ticks;
    this.#target = target;
  }

  /** Media sequence number that the next cut will have. */
  get nextMsn(): number {
    return this.#msn;
  }

  get lastTicks(): number {
    return this.#last;
  }

  /** The longest way from one IDR to the next so far. */
  get longestGopSeconds(): number {
    return this.#longestGopTicks / TICKS_PER_SECOND;
  }

  /** A stretch begins: how far its first IDR is from the one before says nothing of the encoder. */
  restart(): void {
    this.#lastIdr = null;
    this.#gopTicks = 0;
  }

  /** A picture at `ticks`, of which the next is expected `frameTicks` later. */
  wantsVideoCut(ticks: number, frameTicks: number, isIndependent: boolean): boolean {
    const since = ticks - this.#last;
    const sinceIdr = ticks - (this.#lastIdr ?? ticks);
    this.#longestGopTicks = Math.max(this.#longestGopTicks, sinceIdr);
    if (isIndependent) {
      this.#gopTicks = sinceIdr;
      this.#lastIdr = ticks;
    }
    const longest = this.#target.seconds * TICKS_PER_SECOND + LATE_TICKS;
    if (since + frameTicks > longest || this.#isFull) return true;
    return isIndependent && since > 0 && (since >= SEGMENT_TICKS - EARLY_TICKS || since + this.#gopTicks > longest);
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
