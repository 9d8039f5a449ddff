import type { VideoTrack } from "../packet.ts";
import type { Rung } from "./ladder-plan.ts";

/** Measured cores for decoding and for encoding a million pixels at 30 frames per second (H.264, superfast). */
const DECODE_CORES = 0.155;
const ENCODE_CORES = 0.5;
const COUNTED_FPS = 30;
const MEGAPIXEL = 1_000_000;
/** Peak memory of a child with 1080p and three rungs, with a margin. */
const CHILD_BYTES = 260 * 1024 * 1024;

export interface TranscodeAdmissionSettings {
  /** Cores that live transcoding may use in total. */
  readonly cores: number;
  readonly freeBytes: () => number;
}

/** Released when the ladder ends. */
export interface TranscodeSlot {
  /** The real frame rate of the source. The ladder keeps its slot, and later ladders see what it really leaves. */
  measured(frameRate: number): void;
  release(): void;
}

/**
 * Admits a ladder if its cost fits next to the running ones. One more than the machine can carry would slow all of them below real time, so it
 * is refused with a reason and its stream plays as source only.
 */
export class TranscodeAdmission {
  readonly #settings: TranscodeAdmissionSettings;
  #used = 0;

  constructor(settings: TranscodeAdmissionSettings) {
    this.#settings = settings;
  }

  /** Cores counted for the running ladders, and the total. */
  get budget(): { readonly usedCores: number; readonly totalCores: number } {
    return { usedCores: Math.max(0, this.#used), totalCores: this.#settings.cores };
  }

  /** A slot, or a sentence that says why there is none. */
  admit(source: VideoTrack, rungs: readonly Rung[]): TranscodeSlot | string {
    let cost = coresOf(source, rungs, source.frameRate);
    const { cores, freeBytes } = this.#settings;
    if (this.#used + cost > cores) {
      const free = Math.max(0, cores - this.#used);
      return `This ladder needs about ${cost.toFixed(1)} cores and ${free.toFixed(1)} of ${cores.toFixed(1)} are free: end another stream, use fewer or smaller profiles, or add a machine.`;
    }
    if (freeBytes() < CHILD_BYTES)
      return "There is not enough free memory for another ladder: end another stream or add memory.";
    this.#used += cost;
    let isHeld = true;
    return {
      measured: (frameRate) => {
        if (!isHeld) return;
        this.#used -= cost;
        cost = coresOf(source, rungs, frameRate);
        this.#used += cost;
      },
      release: () => {
        if (isHeld) this.#used -= cost;
        isHeld = false;
      },
    };
  }
}

/** Cores that the ladder is expected to need. */
export function coresOf(source: VideoTrack, rungs: readonly Rung[], sourceFps = COUNTED_FPS): number {
  const decoded = source.width * source.height * sourceFps;
  const encoded = rungs.reduce((sum, { width, height, frameRate }) => {
    const fps = frameRate ? frameRate.num / frameRate.den : sourceFps;
    return sum + width * height * fps;
  }, 0);
  return (decoded * DECODE_CORES + encoded * ENCODE_CORES) / (MEGAPIXEL * COUNTED_FPS);
}
