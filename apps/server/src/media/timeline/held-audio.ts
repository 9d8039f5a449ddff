import { type AudioTrack, TICKS_PER_SECOND } from "../packet.ts";
import { AudioClock } from "./audio-clock.ts";
import { rescale } from "./ticks.ts";
import type { Sample } from "./timeline-sink.ts";

/** Limits of the audio that waits for the cutting track; far more than any source is uneven. */
const MAX_HELD_FRAMES = 2000;
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** One audio track of a stretch: its clock, and the samples that wait until the cutting track has reached their time. */
export class HeldAudio {
  readonly clock: AudioClock;
  readonly #held: Sample[] = [];
  #heldBytes = 0;
  #releasedTicks = Number.NEGATIVE_INFINITY;

  constructor(track: AudioTrack) {
    this.clock = new AudioClock(track, (sample) => {
      this.#held.push(sample);
      this.#heldBytes += sample.data.byteLength;
    });
  }

  get holdsTooMuch(): boolean {
    return this.#held.length > MAX_HELD_FRAMES || this.#heldBytes > MAX_HELD_BYTES;
  }

  /** Start of the newest released sample, in 90 kHz ticks. */
  get releasedTicks(): number {
    return this.#releasedTicks;
  }

  /** Releases the samples that start at or before `limit` (90 kHz ticks). */
  release(limit: number, emit: (sample: Sample, ticks: number) => void): void {
    const held = this.#held;
    if (held.length === 0) return;
    const rate = this.clock.track.sampleRate;
    let released = 0;
    for (const sample of held) {
      const ticks = rescale(sample.time, rate, TICKS_PER_SECOND);
      if (ticks > limit) break;
      this.#heldBytes -= sample.data.byteLength;
      this.#releasedTicks = ticks;
      emit(sample, ticks);
      released++;
    }
    if (released === held.length) held.length = 0;
    else if (released > 0) held.splice(0, released);
  }
}
