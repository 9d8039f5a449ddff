const FAST_SECONDS = 0.334;
const SLOW_SECONDS = 0.5;
const SLOWEST_SECONDS = 1;
/** 24 AAC frames of 48 kHz, 22 of 44.1 kHz: four parts of a segment of 2 s. */
const AUDIO_SECONDS = 0.513;
/** RFC 8216bis 4.4.4.9: a part that is neither independent nor last lasts at least 85 % of the target. */
const LEAST_FILL = 0.85;
const LADDER_HOLD_BACK = 1.5;
const SLOW_FRAME_SECONDS = 1 / 12;
/** Sources count in milliseconds: a frame may look this much longer than it is. */
const ROUNDING_SECONDS = 0.001;

/** The values about parts in one rendition's playlists (EXT-X-PART-INF, EXT-X-SERVER-CONTROL). */
export interface PartLimits {
  /** How long its parts are at most; null while undecided. */
  readonly seconds: number | null;
  /** How far from the end players keep: the same for all renditions. */
  readonly holdBackSeconds: number;
}

/**
 * How long the parts of a timeline are at most, in seconds, decided once: 0.334 s of video, or 0.5 or 1 s where fewer than 12 frames come a
 * second. Audio beside pictures has longer parts: each part is two requests of every viewer, and half of all requests were for sound. Undecided
 * until the first frame duration is known.
 */
export class PartTarget implements PartLimits {
  #seconds: number | null = null;
  #audioSeconds: number | null = null;
  /** With rungs, players keep a little further back: a rung comes later than its source. */
  hasLadder = false;

  get seconds(): number | null {
    return this.#seconds;
  }

  /**
   * At least three part targets of the video and two of the audio. RFC 8216bis 4.4.3.8 demands two, and advises three for all; a third one of
   * the audio would put every picture half a second further back.
   */
  get holdBackSeconds(): number {
    const least = this.hasLadder ? LADDER_HOLD_BACK : 0;
    const ofVideo = Math.ceil((this.#seconds ?? FAST_SECONDS) * 300 + 0.5) / 100;
    const ofAudio = Math.ceil((this.#audioSeconds ?? AUDIO_SECONDS) * 200) / 100;
    return Math.max(least, ofVideo, ofAudio);
  }

  /** Of the audio rendition. */
  get audio(): PartLimits {
    return new AudioPartTarget(this, () => this.#audioSeconds);
  }

  decideByFrame(frameSeconds: number): void {
    if (this.#seconds !== null) return;
    const frame = frameSeconds - ROUNDING_SECONDS;
    if (frame <= SLOW_FRAME_SECONDS) this.#seconds = FAST_SECONDS;
    else
      this.#seconds =
        Math.floor(SLOW_SECONDS / frame) * frame >= SLOW_SECONDS * LEAST_FILL ? SLOW_SECONDS : SLOWEST_SECONDS;
    this.#audioSeconds ??= Math.max(this.#seconds, AUDIO_SECONDS);
  }

  /** There is nothing but audio. */
  decideByAudio(): void {
    this.#seconds ??= FAST_SECONDS;
    this.#audioSeconds ??= FAST_SECONDS;
  }
}

class AudioPartTarget implements PartLimits {
  readonly #timeline: PartTarget;
  readonly #seconds: () => number | null;

  constructor(timeline: PartTarget, seconds: () => number | null) {
    this.#timeline = timeline;
    this.#seconds = seconds;
  }

  get seconds(): number | null {
    return this.#seconds();
  }

  get holdBackSeconds(): number {
    return this.#timeline.holdBackSeconds;
  }
}
