import { type AacTrack, FIRST_AUDIO_TRACK, TICKS_PER_SECOND } from "../packet.ts";

const FRAME_SAMPLES = 1024;
const SAMPLE_RATE = 48_000;
/** A larger distance is a jump of the timeline. */
const MAX_FRAMES = 100;

/** The audio track for broadcasts without audio, since most platforms end a broadcast without it: AAC, stereo. */
export const SILENT_TRACK: AacTrack = {
  id: FIRST_AUDIO_TRACK,
  kind: "audio",
  codec: "aac",
  // AudioSpecificConfig: AAC LC, 48 kHz, two channels.
  config: Uint8Array.of(0x11, 0x90),
  codecString: "mp4a.40.2",
  sampleRate: SAMPLE_RATE,
  channels: 2,
  frameSamples: FRAME_SAMPLES,
};

/** Times of silent frames alongside video. They are on a fixed grid of the timeline, so that frames continue seamlessly. */
export class SilentAudio {
  readonly frameTicks: number;
  #next: number | null = null;

  /** `fromTicks`: no frame starts earlier. */
  constructor({ frameSamples, sampleRate }: AacTrack = SILENT_TRACK, fromTicks: number | null = null) {
    this.frameTicks = (frameSamples * TICKS_PER_SECOND) / sampleRate;
    if (fromTicks !== null) this.#next = Math.ceil(fromTicks / this.frameTicks);
  }

  /** Calls `emit` with the start of each frame up to `ticks`. */
  until(ticks: number, emit: (ticks: number) => void): void {
    const last = Math.floor(ticks / this.frameTicks);
    if (this.#next === null || last - this.#next > MAX_FRAMES) this.#next = last;
    for (; this.#next <= last; this.#next++) emit(this.#next * this.frameTicks);
  }
}
