import { TICKS_PER_SECOND } from "../packet.ts";
import { FileRefused } from "./refusal.ts";

/** Shorter distances between two packets are no gap: sound that is off in silence, slides, variable frame rates. */
const ORDINARY_SECONDS = 2;
/** All gaps of a track together may last this long, */
const SPARE_SECONDS = 10 * 60;
/** and one second more for each of these bytes: media at 2 kbit/s would fill the gaps. */
const BYTES_PER_SECOND = 250;
/** A picture's duration is a uint32 of 90 kHz ticks (ISO/IEC 14496-12 8.8.8), 13.2 hours. */
const MAX_GAP_SECONDS = 12 * 3600;

/**
 * Limits the gaps of one track in proportion to the file, because gaps cost the server as much as media: silence fills those of the audio, and segments
 * those of the video. Wrong timestamps would otherwise turn a few bytes into a day.
 */
export class TrackGaps {
  readonly #kind: "audio" | "video";
  readonly #fileBytes: number;
  #reachedTicks = 0;
  #gapSeconds = 0;

  constructor(kind: "audio" | "video", fileBytes: number) {
    this.#kind = kind;
    this.#fileBytes = fileBytes;
  }

  /** The track has media that start, or end, at `ticks`. Throws `FileRefused`. */
  reach(ticks: number): void {
    const seconds = (ticks - this.#reachedTicks) / TICKS_PER_SECOND;
    this.#reachedTicks = Math.max(this.#reachedTicks, ticks);
    if (seconds <= ORDINARY_SECONDS) return;
    this.#gapSeconds += seconds;
    const isTooLong = seconds > MAX_GAP_SECONDS;
    if (!isTooLong && this.#gapSeconds <= SPARE_SECONDS + this.#fileBytes / BYTES_PER_SECOND) return;
    const gaps =
      this.#gapSeconds > seconds ? `gaps of ${inWords(this.#gapSeconds)} in all` : `a gap of ${inWords(seconds)}`;
    const why = isTooLong
      ? `the longest may last ${MAX_GAP_SECONDS / 3600} hours`
      : `too much for a file of ${Math.ceil(this.#fileBytes / 1000)} kB`;
    throw new FileRefused(`The ${this.#kind} of this file has ${gaps}: ${why}. Remove the gaps, and export it again.`);
  }
}

function inWords(seconds: number): string {
  const hours = seconds / 3600;
  return hours >= 2 ? `${Math.round(hours)} hours` : `${Math.round(seconds / 60)} minutes`;
}
