const FAST_SECONDS = 0.334;
const SLOW_SECONDS = 0.5;
const SLOWEST_SECONDS = 1;
/** 24 AAC frames of 48 kHz, 22 of 44.1 kHz: four parts in a segment of 2 s. */
const AUDIO_SECONDS = 0.513;
/** RFC 8216bis 4.4.4.9: a part that is neither independent nor last lasts at least 85 % of the target. */
const MIN_FILL = 0.85;
const LADDER_HOLD_BACK = 1.5;
const SLOW_FRAME_SECONDS = 1 / 12;
/** Sources count in milliseconds, so a frame may appear longer than it is by this much. */
const ROUNDING_SECONDS = 0.001;

/** The part attributes in one rendition's playlists (EXT-X-PART-INF, EXT-X-SERVER-CONTROL). */
export interface PartLimits {
  /** The longest duration of its parts; null while undecided. */
  readonly seconds: number | null;
  /** Hold-back of players from the end: the same for all renditions. */
  readonly holdBackSeconds: number;
}

/**
 * The longest duration of a timeline's parts, in seconds, decided once: 0.334 s of video, or 0.5 or 1 s below 12 frames per second. Audio next
 * to video has longer parts: every part costs each viewer two requests, and half of all requests were for audio. Undecided until the first frame
 * duration is known.
 */
export class PartTarget implements PartLimits {
  #seconds: number | null = null;
  #audioSeconds: number | null = null;
  /** With rungs, players hold back a little more, because a rung arrives later than its source. */
  hasLadder = false;
  /** For the audio rendition. */
  readonly audio: PartLimits;

  constructor() {
    const [seconds, holdBackSeconds] = [() => this.#audioSeconds, () => this.holdBackSeconds];
    this.audio = {
      get seconds() {
        return seconds();
      },
      get holdBackSeconds() {
        return holdBackSeconds();
      },
    };
  }

  get seconds(): number | null {
    return this.#seconds;
  }

  /**
   * At least three part targets of the video and two of the audio. RFC 8216bis 4.4.3.8 demands two, and recommends three. A third audio part
   * target would delay every picture by another half second.
   */
  get holdBackSeconds(): number {
    const least = this.hasLadder ? LADDER_HOLD_BACK : 0;
    const ofVideo = Math.ceil((this.#seconds ?? FAST_SECONDS) * 300 + 0.5) / 100;
    const ofAudio = Math.ceil((this.#audioSeconds ?? AUDIO_SECONDS) * 200) / 100;
    return Math.max(least, ofVideo, ofAudio);
  }

  decideByFrame(frameSeconds: number): void {
    if (this.#seconds !== null) return;
    const frame = frameSeconds - ROUNDING_SECONDS;
    if (frame <= SLOW_FRAME_SECONDS) this.#seconds = FAST_SECONDS;
    else
      this.#seconds =
        Math.floor(SLOW_SECONDS / frame) * frame >= SLOW_SECONDS * MIN_FILL ? SLOW_SECONDS : SLOWEST_SECONDS;
    this.#audioSeconds ??= Math.max(this.#seconds, AUDIO_SECONDS);
  }

  /** Audio only. */
  decideByAudio(): void {
    this.#seconds ??= FAST_SECONDS;
    this.#audioSeconds ??= FAST_SECONDS;
  }
}
