import type { Payload } from "../packet.ts";
import { VIDEO_TRACK } from "../packet.ts";
import type { LiveOutput } from "./live-output.ts";
import { samplesIn } from "./window-samples.ts";

/** A third of a second would be longer than a part. */
const PACE_TICKS = 27_000;
/** Bytes behind the last keyframe that are read to find it. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/** The last keyframe of one rendition, out of its live window, as pictures that follow it. Its decoder configuration stays, so no player notices. */
export class RenditionStill {
  readonly #packager: LiveOutput["packager"];
  readonly #keyframe: Payload;
  /** How much later than it is decoded a picture is shown: as before, so that decode times continue. */
  readonly #reorderTicks: number;

  private constructor({ packager }: LiveOutput, keyframe: Payload) {
    this.#packager = packager;
    this.#keyframe = keyframe;
    this.#reorderTicks = packager.reorderTicks;
  }

  /** Null where the rendition has no keyframe of H.264. */
  static of(output: LiveOutput): RenditionStill | null {
    const { listed } = output.rendition;
    const init = listed.at(-1)?.storedInit;
    if (init?.track.kind !== "video" || init.track.codec !== "avc") return null;
    let bytes = 0;
    for (const segment of listed.toReversed()) {
      if (segment.storedInit?.name !== init.name) return null;
      for (const { views, byteLength } of segment.parts.toReversed()) {
        bytes += byteLength;
        if (bytes > MAX_READ_BYTES) return null;
        const keyframe = samplesIn(views, VIDEO_TRACK).findLast(({ isIndependent }) => isIndependent);
        if (keyframe) return new RenditionStill(output, keyframe.data);
      }
    }
    return null;
  }

  /** From one picture to the next, in 90 kHz ticks. */
  get paceTicks(): number {
    return PACE_TICKS;
  }

  show(ticks: number, duration: number): void {
    const decodeTime = ticks - this.#reorderTicks;
    const data = this.#keyframe;
    this.#packager.sample({
      ...{ trackId: VIDEO_TRACK, kind: "video", time: ticks, decodeTime, duration, isIndependent: true, data },
    });
  }
}
