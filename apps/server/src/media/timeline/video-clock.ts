import type { SourcePacket } from "../packet.ts";
import type { Sample } from "./timeline-sink.ts";

/** The longest reordering taken for true; FLV could claim hours. */
const MAX_REORDER_TICKS = 2 * 90_000;
/** For a lone first frame after which nothing comes. */
const DEFAULT_FRAME_TICKS = 3000;

/**
 * Places video packets on the timeline. Holds one sample back, because only the next one tells its duration.
 * DTS is made strictly increasing and PTS never lies before DTS; what had to be moved is counted.
 */
export class VideoClock {
  #offset = 0;
  #lastDts = Number.NEGATIVE_INFINITY;
  /** What is added to DTS so that the first sample of a segment decodes at its own PTS. */
  #shift = 0;
  #lastDecode = Number.NEGATIVE_INFINITY;
  #held: Sample | null = null;
  #frameTicks: number | null = null;
  corrections = 0;

  /** Begin a stretch: T = source PTS + offset. */
  start(offset: number): void {
    this.#offset = offset;
    this.#lastDts = Number.NEGATIVE_INFINITY;
    this.#held = null;
  }

  /** Duration of the frame before the held one, in ticks; null while there was none. */
  get frameTicks(): number | null {
    return this.#frameTicks;
  }

  /** Decoding time of the newest sample: nothing later on decodes before it. */
  get decodeTime(): number {
    return this.#lastDecode;
  }

  /** The packet's sample, not yet held. Its duration is unknown (0) until the next one is held. */
  place(packet: SourcePacket): Sample {
    let dts = packet.dts + this.#offset;
    if (dts <= this.#lastDts) {
      dts = this.#lastDts + 1;
      this.corrections++;
    }
    let pts = packet.pts + this.#offset;
    if (pts < dts || pts - dts > MAX_REORDER_TICKS) {
      pts = dts;
      this.corrections++;
    }
    this.#lastDts = dts;
    const decodeTime = this.#after(dts + this.#shift);
    return {
      kind: "video",
      time: pts,
      decodeTime,
      duration: 0,
      isIndependent: packet.isIndependent,
      data: packet.data,
    };
  }

  /** The sample opens a segment: from here on, decoding times are such that its own equals its PTS. */
  align(sample: Sample): void {
    this.#shift = sample.time - this.#lastDts;
    sample.decodeTime = this.#after(sample.time);
  }

  /** Hold this sample; the one held before comes back with its duration. */
  hold(sample: Sample): Sample | null {
    const done = this.#held;
    if (done) {
      done.duration = sample.decodeTime - done.decodeTime;
      this.#frameTicks = done.duration;
    }
    this.#held = sample;
    this.#lastDecode = sample.decodeTime;
    return done;
  }

  /** Let the held sample go with the duration of the one before it: the next is too late to wait for. */
  release(): Sample | null {
    const done = this.#held;
    this.#held = null;
    if (done) done.duration = this.#frameTicks ?? DEFAULT_FRAME_TICKS;
    return done;
  }

  #after(decodeTime: number): number {
    return Math.max(decodeTime, this.#lastDecode + 1);
  }
}
