import type { SourcePacket } from "../packet.ts";
import type { Sample } from "./timeline-sink.ts";

/** Longer reordering delays are considered wrong; FLV can express hours. */
const MAX_REORDER_TICKS = 2 * 90_000;
/** For a single frame that no other follows. */
const DEFAULT_FRAME_TICKS = 3000;

/** Delay from decoding to presentation of a picture; 0 if the source's value is invalid. */
export function reorderTicks({ pts, dts }: SourcePacket): number {
  return pts < dts || pts - dts > MAX_REORDER_TICKS ? 0 : pts - dts;
}

/**
 * Places video packets on the timeline. One sample is held back, because only the next one determines its duration. DTS is made strictly increasing,
 * and PTS is never before DTS.
 */
export class VideoClock {
  #offset = 0;
  #lastDecode = Number.NEGATIVE_INFINITY;
  #held: Sample | null = null;
  #frameTicks: number | null = null;

  /** Starts a stretch: T = source PTS + offset. */
  start(offset: number): void {
    this.#offset = offset;
    this.#held = null;
  }

  /** Duration of the frame before the held one, in ticks; null if there was none. */
  get frameTicks(): number | null {
    return this.#frameTicks;
  }

  /** Decode time of the newest sample. No later sample has an earlier one. */
  get decodeTime(): number {
    return this.#lastDecode;
  }

  /** Converts a packet to a sample, without holding it. Its duration is 0 until the next sample is held. */
  place(packet: SourcePacket): Sample {
    let decodeTime = packet.dts + this.#offset;
    if (decodeTime <= this.#lastDecode) decodeTime = this.#lastDecode + 1;
    const time = Math.max(packet.dts + this.#offset + reorderTicks(packet), decodeTime);
    const { trackId, isIndependent, data } = packet;
    return { trackId, kind: "video", time, decodeTime, duration: 0, isIndependent, data };
  }

  /** Holds this sample. Returns the previously held one with its duration. */
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

  /** Releases the held sample with the previous frame's duration, because the next frame is late. */
  release(): Sample | null {
    const done = this.#held;
    this.#held = null;
    if (done) done.duration = this.#frameTicks ?? DEFAULT_FRAME_TICKS;
    return done;
  }
}
