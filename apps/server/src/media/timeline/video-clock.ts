import type { SourcePacket } from "../packet.ts";
import type { Sample } from "./timeline-sink.ts";

/** The longest reordering taken for true; FLV could claim hours. */
const MAX_REORDER_TICKS = 2 * 90_000;
/** For a lone first frame after which nothing comes. */
const DEFAULT_FRAME_TICKS = 3000;

/** How long a picture is shown after it is decoded; 0 where the source says what cannot be. */
export function reorderTicks({ pts, dts }: SourcePacket): number {
  return pts < dts || pts - dts > MAX_REORDER_TICKS ? 0 : pts - dts;
}

/**
 * Places video packets on the timeline. Holds one sample back, because only the next one tells its duration.
 * DTS is made strictly increasing and PTS never lies before DTS; what had to be moved is counted.
 */
export class VideoClock {
  #offset = 0;
  #lastDecode = Number.NEGATIVE_INFINITY;
  #held: Sample | null = null;
  #frameTicks: number | null = null;
  corrections = 0;

  /** Begin a stretch: T = source PTS + offset. */
  start(offset: number): void {
    this.#offset = offset;
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
    let decodeTime = packet.dts + this.#offset;
    let time = decodeTime + reorderTicks(packet);
    if (decodeTime <= this.#lastDecode) {
      decodeTime = this.#lastDecode + 1;
      this.corrections++;
    }
    if (time !== packet.pts + this.#offset || time < decodeTime) {
      time = Math.max(time, decodeTime);
      this.corrections++;
    }
    const { trackId, isIndependent, data } = packet;
    return { trackId, kind: "video", time, decodeTime, duration: 0, isIndependent, data };
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
}
