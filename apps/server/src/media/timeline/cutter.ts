import { TICKS_PER_SECOND } from "../packet.ts";
import type { TargetDuration } from "./target-duration.ts";

const SEGMENT_TICKS = 2 * TICKS_PER_SECOND;
/** How much too early an IDR may be and still end a segment: keyframes every 2 s may arrive 40 ms early or late. */
const EARLY_TICKS = TICKS_PER_SECOND / 4;
/**
 * How much longer than the target a segment may be: durations round down below half a second. The remainder is for frames longer than the previous
 * one.
 */
const LATE_TICKS = 0.48 * TICKS_PER_SECOND;
/** At this size a segment ends at any frame. 32 MiB in 4 s are 67 Mbit/s. */
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
/** For a source whose clock hardly advances while small packets arrive. */
const MAX_SEGMENT_SAMPLES = 4000;

/**
 * Decides where segments start: at the first IDR about 2 s after the last cut; at an earlier IDR if the next one would be too late; at any frame if
 * the segment would otherwise not round to the target duration; and every 2 s of audio if there is no video. A segment that reaches its maximum size
 * is cut at any frame, regardless of the source's clock.
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

  /** Media sequence number of the next cut. */
  get nextMsn(): number {
    return this.#msn;
  }

  /** Position of the last cut, in 90 kHz ticks. */
  get lastTicks(): number {
    return this.#last;
  }

  /** The longest distance between two IDR pictures so far. */
  get longestGopSeconds(): number {
    return this.#longestGopTicks / TICKS_PER_SECOND;
  }

  /** A stretch starts. The distance of its first IDR to the previous one says nothing about the encoder. */
  restart(): void {
    this.#lastIdr = null;
    this.#gopTicks = 0;
  }

  /** Whether to cut before a picture at `ticks`; the next picture is expected `frameTicks` later. */
  wantsVideoCut(ticks: number, frameTicks: number, isIndependent: boolean): boolean {
    const since = ticks - this.#last;
    const sinceIdr = ticks - (this.#lastIdr ?? ticks);
    this.#longestGopTicks = Math.max(this.#longestGopTicks, sinceIdr);
    if (isIndependent) {
      this.#gopTicks = sinceIdr;
      this.#lastIdr = ticks;
    }
    if (this.isTooLong(ticks + frameTicks) || this.#isFull) return true;
    const isDue = since >= SEGMENT_TICKS - EARLY_TICKS || this.isTooLong(ticks + this.#gopTicks);
    return isIndependent && since > 0 && isDue;
  }

  /** Whether a segment from the last cut to `ticks` would not round to the target duration. */
  isTooLong(ticks: number): boolean {
    return ticks - this.#last > this.#target.seconds * TICKS_PER_SECOND + LATE_TICKS;
  }

  wantsAudioCut(ticks: number): boolean {
    return ticks - this.#last >= SEGMENT_TICKS || this.#isFull;
  }

  /** Counts a sample of any track in the current segment. */
  count(bytes: number): void {
    this.#bytes += bytes;
    this.#samples++;
  }

  /** Cuts at `ticks`. Returns the MSN of the segment that starts. */
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
