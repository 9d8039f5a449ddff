import { WrappedCounter } from "@weir/formats/rtp";
import type { MediaKind } from "./peer-transport.ts";

const TICKS_PER_MS = 90;
const TICKS_PER_UNIT = { video: 1, audio: 90_000 / 48_000 };
/** How much the video of one picture may move to come to where its sender's clock says that it belongs: nobody sees a millisecond. */
const SLEW_TICKS = TICKS_PER_MS;
/** Clocks that are further apart have nothing to do with each other. */
const MAX_OFFSET_TICKS = 5_000 * TICKS_PER_MS;

interface Line {
  readonly counter: WrappedCounter;
  /** Arrival of its first packet, less its RTP time, in ticks. Null before it. */
  offset: number | null;
  /** The sender's wall clock in ticks, less its RTP time. Null before the first sender report. */
  wall: number | null;
}

/**
 * One clock for the audio and the video of a publisher, in 90 kHz ticks. Each begins where it arrives; as soon as the sender has said how its two
 * clocks belong together, pictures move there by a millisecond each.
 */
export class PublishClock {
  readonly #lines: Record<MediaKind, Line> = { video: newLine(), audio: newLine() };

  /** The sender's clock was at `wallMs` when its RTP timestamp was `timestamp`. */
  report(kind: MediaKind, timestamp: number, wallMs: number): void {
    const line = this.#lines[kind];
    if (line.offset === null) return;
    line.wall = wallMs * TICKS_PER_MS - line.counter.unwrap(timestamp) * TICKS_PER_UNIT[kind];
  }

  timeOf(kind: MediaKind, timestamp: number, nowMs: number): number {
    const line = this.#lines[kind];
    const time = line.counter.unwrap(timestamp) * TICKS_PER_UNIT[kind];
    line.offset ??= nowMs * TICKS_PER_MS - time;
    if (kind === "video") line.offset += this.#slew(line.offset);
    return Math.round(time + line.offset);
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
