import { WrappedCounter } from "@weir/formats/bits";
import type { MediaKind } from "./peer-transport.ts";

const TICKS_PER_MS = 90;
/** How far the video's time moves per picture towards the position that the sender's clock implies: one millisecond is invisible. */
const SLEW_TICKS = TICKS_PER_MS;
/** Clocks that differ by more are considered unrelated. */
const MAX_OFFSET_TICKS = 5_000 * TICKS_PER_MS;

interface Line {
  readonly counter: WrappedCounter;
  /** Arrival of its first packet minus its RTP time, in ticks; null before that. */
  offset: number | null;
  /** The sender's wall clock minus its RTP time, in ticks; null before the first sender report. */
  wall: number | null;
}

/**
 * A common clock for audio and video that arrive over RTP, in 90 kHz ticks. Each track starts at its arrival time. Once the sender reports have revealed
 * how the two RTP clocks relate, video moves there by one millisecond per picture.
 */
export class PublishClock {
  readonly #ticksPerUnit: Record<MediaKind, number>;
  readonly #lines: Record<MediaKind, Line> = { video: newLine(), audio: newLine() };

  /** `audioRate`: units of the audio's RTP clock per second. Video always has 90,000. */
  constructor(audioRate = 48_000) {
    this.#ticksPerUnit = { video: 1, audio: (TICKS_PER_MS * 1000) / audioRate };
  }

  /** Adds a sender report: the sender's wall clock was `wallMs` at RTP timestamp `timestamp`. */
  report(kind: MediaKind, timestamp: number, wallMs: number): void {
    const line = this.#lines[kind];
    line.wall = wallMs * TICKS_PER_MS - line.counter.unwrap(timestamp) * this.#ticksPerUnit[kind];
  }

  timeOf(kind: MediaKind, timestamp: number, nowMs: number): number {
    const line = this.#lines[kind];
    const time = line.counter.unwrap(timestamp) * this.#ticksPerUnit[kind];
    line.offset ??= this.#beside(kind, nowMs * TICKS_PER_MS - time);
    if (kind === "video") line.offset += this.#slew(line.offset);
    return Math.round(time + line.offset);
  }

  /** Where a track begins: at its arrival, or beside the other one where reports came first. */
  #beside(kind: MediaKind, arrival: number): number {
    const [own, other] = [this.#lines[kind], this.#lines[kind === "video" ? "audio" : "video"]];
    if (own.wall === null || other.wall === null || other.offset === null) return arrival;
    const related = other.offset + own.wall - other.wall;
    return Math.abs(related - arrival) > MAX_OFFSET_TICKS ? arrival : related;
  }

  #slew(offset: number): number {
    const { video, audio } = this.#lines;
    if (video.wall === null || audio.wall === null || audio.offset === null) return 0;
    const wanted = audio.offset + video.wall - audio.wall;
    const error = wanted - offset;
    if (Math.abs(error) > MAX_OFFSET_TICKS) return 0;
    return Math.max(-SLEW_TICKS, Math.min(SLEW_TICKS, error));
  }
}

function newLine(): Line {
  return { counter: new WrappedCounter(32), offset: null, wall: null };
}
