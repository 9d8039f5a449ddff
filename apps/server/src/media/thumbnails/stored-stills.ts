import type { Clock } from "../../platform/clock.ts";
import type { MediaIndex } from "../../ports/index.ts";
import { KeptStills } from "./kept-stills.ts";
import type { ImageShape, StillMaker } from "./still-maker.ts";
import { findKeyframe, readKeyframe, type StoredBytes } from "./stored-keyframes.ts";
import { storyboardOf } from "./storyboard.ts";

/** A client waits this long for a picture. */
const ANSWER_MS = 4_000;

/** Thumbnails of stored media: the keyframe at the start of a segment. */
export class StoredStills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #bytes: StoredBytes;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, bytes: StoredBytes, clock: Clock) {
    this.#maker = maker;
    this.#bytes = bytes;
    this.#kept = new KeptStills(clock, ANSWER_MS);
  }

  /** The last picture of media that no longer grows. Its index, which may be long, is read only to make the picture. */
  async last(id: string, readIndex: () => Promise<MediaIndex | null>, shape: ImageShape): Promise<Uint8Array | null> {
    return this.#kept.get(`${id} last ${shape.maxWidth} ${shape.format}`, Number.POSITIVE_INFINITY, async () => {
      const index = await readIndex();
      return index && this.at(index, storyboardOf(index)?.endSeconds ?? 0, shape);
    });
  }

  /** The picture at a time, or at the last keyframe before it. Null without video. */
  async at(index: MediaIndex, seconds: number, shape: ImageShape): Promise<Uint8Array | null> {
    const found = findKeyframe(index, seconds, shape.maxWidth);
    if (!found) return null;
    const { rendition, segment } = found;
    const key = `${index.id} ${rendition.rendition} ${segment.msn} ${shape.maxWidth} ${shape.format}`;
    return this.#kept.get(key, Number.POSITIVE_INFINITY, async () => {
      const keyframe = await readKeyframe(this.#bytes, found);
      return keyframe && this.#maker.make(keyframe, shape);
    });
  }
}
