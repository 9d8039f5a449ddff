import type { Clock } from "../../platform/clock.ts";
import type { StoredMedia } from "../stored/stored-media.ts";
import { KeptStills } from "./kept-stills.ts";
import type { ImageShape, StillMaker } from "./still-maker.ts";
import { findKeyframe, readKeyframe } from "./stored-keyframes.ts";
import { storyboardOf } from "./storyboard.ts";

/** A client waits this long for a picture. */
const ANSWER_MS = 4_000;

/** Thumbnails of stored media: the keyframe at the start of a segment. */
export class StoredStills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, clock: Clock) {
    this.#maker = maker;
    this.#kept = new KeptStills(clock, ANSWER_MS);
  }

  /** The last picture of media that no longer grows. They are opened, which takes their whole index, only to make the picture. */
  async last(id: string, open: () => Promise<StoredMedia | null>, shape: ImageShape): Promise<Uint8Array | null> {
    return this.#kept.get(`${id} last ${shape.maxWidth} ${shape.format}`, Number.POSITIVE_INFINITY, async () => {
      const media = await open();
      return media && this.at(media, storyboardOf(media.index)?.endSeconds ?? 0, shape);
    });
  }

  /** The picture at a time, or at the last keyframe before it. Null without video. */
  async at(media: StoredMedia, seconds: number, shape: ImageShape): Promise<Uint8Array | null> {
    const found = findKeyframe(media.index, seconds, shape.maxWidth);
    if (!found) return null;
    const { rendition, segment } = found;
    const key = `${media.index.id} ${rendition.rendition} ${segment.msn} ${shape.maxWidth} ${shape.format}`;
    return this.#kept.get(key, Number.POSITIVE_INFINITY, async () => {
      const keyframe = await readKeyframe(media, found);
      return keyframe && this.#maker.make(keyframe, shape);
    });
  }
}
