import { Payload } from "../packet.ts";
import { newestTrack } from "./hls/live-multivariant.ts";
import type { LiveRendition } from "./live-rendition.ts";
import type { InitSegment } from "./live-segment.ts";

/** Of a session: a source that changes its parameter sets again and again gets no image for the first of them. */
const MAX_CONFIGURATIONS = 24;

/** Makes a keyframe for this `avcC`; null where it takes none. */
export type MakeSlate = (config: Uint8Array) => Promise<Uint8Array | null>;

/**
 * The stream's own image as a keyframe of each rendition of a session. It is made when the rendition's configuration is known, one after the other: when a source
 * is lost, often many are.
 */
export class SlateImages {
  readonly #make: MakeSlate;
  /** By the decoder configuration; null for one that takes none. */
  readonly #keyframes = new Map<string, Payload | null>();
  #isMaking = false;

  constructor(make: MakeSlate) {
    this.#make = make;
  }

  /** Begins with a rendition that has none yet. To be called again and again. */
  prepare(renditions: readonly LiveRendition[]): void {
    if (this.#isMaking) return;
    for (const rendition of renditions) {
      const track = newestTrack(rendition);
      if (track?.kind !== "video" || track.codec !== "avc" || this.#keyframes.has(keyOf(track.config))) continue;
      this.#isMaking = true;
      void this.#prepare(track.config);
      return;
    }
  }

  /** Null if there is none (yet). */
  keyframeOf({ track }: InitSegment): Payload | null {
    return track.kind === "video" ? (this.#keyframes.get(keyOf(track.config)) ?? null) : null;
  }

  async #prepare(config: Uint8Array): Promise<void> {
    try {
      const keyframe = await this.#make(config);
      for (const [oldest] of this.#keyframes)
        if (this.#keyframes.size >= MAX_CONFIGURATIONS) this.#keyframes.delete(oldest);
      this.#keyframes.set(keyOf(config), keyframe && new Payload(keyframe));
    } catch {
      // Too much else waits for the decoder: with the next segment again.
    } finally {
      this.#isMaking = false;
    }
  }
}

const keyOf = (config: Uint8Array): string => Buffer.from(config).toString("base64");
