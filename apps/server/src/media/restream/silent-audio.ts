import { silentAacFrame } from "@weir/formats/codecs";
import { type AacTrack, FIRST_AUDIO_TRACK, TICKS_PER_SECOND } from "../packet.ts";

const FRAME_SAMPLES = 1024;
const SAMPLE_RATE = 48_000;
/** More is a jump, not a step. */
const MAX_FRAMES = 100;

/** Most platforms end a broadcast that has no sound: this is what one without gets, AAC in stereo. */
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

export const SILENT_FRAME = silentAacFrame(SILENT_TRACK.channels);

/** The times of silent frames beside a picture. They lie on one grid of the timeline, so that they go on where they stopped. */
export class SilentAudio {
  readonly frameTicks: number;
  #next: number | null = null;

  /** `fromTicks`: no frame begins before. */
  constructor({ frameSamples, sampleRate }: AacTrack = SILENT_TRACK, fromTicks: number | null = null) {
    this.frameTicks = (frameSamples * TICKS_PER_SECOND) / sampleRate;
    if (fromTicks !== null) this.#next = Math.ceil(fromTicks / this.frameTicks);
  }

  /** Call `emit` with the time of each frame that begins up to `ticks`. */
  until(ticks: number, emit: (ticks: number) => void): void {
    const last = Math.floor(ticks / this.frameTicks);
    if (this.#next === null || last - this.#next > MAX_FRAMES) this.#next = last;
    for (; this.#next <= last; this.#next++) emit(this.#next * this.frameTicks);
  }
}
