import { type AacTrack, TICKS_PER_SECOND } from "../packet.ts";
import { silenceOf } from "../silence.ts";
import type { EncodedAudio } from "../transcode/audio-reencoder.ts";
import { MAX_FILE_SECONDS } from "./file-spec.ts";

/** Places audio frames on a continuous timeline counted in samples: gaps are filled with silent frames, overlapping frames are dropped. */
export class AudioLine {
  readonly #rate: number;
  readonly #frameSamples: number;
  readonly #silence: Uint8Array;
  #next: number | null = null;

  constructor(track: AacTrack) {
    this.#rate = track.sampleRate;
    this.#frameSamples = track.frameSamples;
    this.#silence = silenceOf(track).data.bytes;
  }

  /** The frames to write for the frame at `ticks`, in order. Without a timestamp it follows the previous frame. */
  *place(ticks: number | null, data: Uint8Array): Generator<EncodedAudio, void> {
    const size = this.#frameSamples;
    const at = ticks === null ? (this.#next ?? 0) : Math.round((ticks * this.#rate) / TICKS_PER_SECOND);
    if (at < 0 || at > MAX_FILE_SECONDS * this.#rate) return;
    this.#next ??= at % size;
    if (at - this.#next <= -size) return;
    for (; at - this.#next >= size; this.#next += size) yield { time: this.#next, data: this.#silence };
    yield { time: this.#next, data };
    this.#next += size;
  }
}
