import { avcRepeats, withoutAvcMessages } from "@weir/formats/codecs";
import { Payload, TICKS_PER_SECOND, VIDEO_TRACK, type VideoTrack } from "../packet.ts";
import type { LiveOutput } from "./live-output.ts";
import type { SlateImages } from "./slate-images.ts";
import { samplesIn } from "./window-samples.ts";

/** Three pictures a part. They cost some 20 bytes each. */
const REPEAT_TICKS = TICKS_PER_SECOND / 10;
/** As many as a segment of 2 s has behind its keyframe. */
const REPEATS = 20;
/** Of keyframes alone: one for each part, of a third of a second at most. */
const KEYFRAME_TICKS = (3 * TICKS_PER_SECOND) / 10;
/** Bytes of the live window that are read to find a keyframe. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

/**
 * The last keyframe of one rendition, out of its live window, or the image of the stream, for as long as the source is away: at the start of each
 * segment, and behind it pictures in which every macroblock is skipped. The decoder configuration stays, so players notice nothing. Where such pictures cannot be written, as for
 * interlaced video, the keyframe itself is repeated.
 */
export class RenditionStill {
  readonly #packager: LiveOutput["packager"];
  readonly #keyframe: Payload;
  readonly #repeats: readonly Payload[];
  /** How much later than it is decoded a picture is shown: as before, so that decode times continue. */
  readonly #reorderTicks: number;
  /** Pictures since the newest keyframe. */
  #since = 0;

  private constructor({ packager }: LiveOutput, { config }: VideoTrack, keyframe: Payload) {
    this.#packager = packager;
    this.#keyframe = new Payload(withoutAvcMessages(keyframe.bytes));
    this.#repeats = (avcRepeats(config, keyframe.bytes, REPEATS) ?? []).map((data) => new Payload(data));
    this.#reorderTicks = packager.reorderTicks;
  }

  /** Null where the rendition has no keyframe of H.264. */
  static of(output: LiveOutput, images: SlateImages | null): RenditionStill | null {
    const { listed: all } = output.rendition;
    // The newest may be gaps: the pictures stopped before the sound.
    const listed = all.slice(0, all.findLastIndex(({ init }) => init !== null) + 1);
    const init = listed.at(-1)?.storedInit;
    if (init?.track.kind !== "video" || init.track.codec !== "avc") return null;
    const image = images?.keyframeOf(init);
    if (image) return new RenditionStill(output, init.track, image);
    let bytes = 0;
    for (const segment of listed.toReversed()) {
      if (segment.storedInit?.name !== init.name) return null;
      for (const { views, byteLength } of segment.parts.toReversed()) {
        bytes += byteLength;
        if (bytes > MAX_READ_BYTES) return null;
        const keyframe = samplesIn(views, VIDEO_TRACK).findLast(({ isIndependent }) => isIndependent);
        if (keyframe) return new RenditionStill(output, init.track, keyframe.data);
      }
    }
    return null;
  }

  /** From one picture to the next, in 90 kHz ticks. */
  get paceTicks(): number {
    return this.#repeats.length > 0 ? REPEAT_TICKS : KEYFRAME_TICKS;
  }

  /** A segment begins. */
  cut(): void {
    this.#since = 0;
  }

  show(ticks: number, duration: number): void {
    const repeat = this.#since === 0 ? undefined : this.#repeats[this.#since - 1];
    this.#since = repeat ? this.#since + 1 : 1;
    this.#packager.sample({
      ...{ trackId: VIDEO_TRACK, kind: "video", time: ticks, decodeTime: ticks - this.#reorderTicks, duration },
      isIndependent: repeat === undefined,
      data: repeat ?? this.#keyframe,
    });
  }
}
