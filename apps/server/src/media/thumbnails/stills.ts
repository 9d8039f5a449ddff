import type { Clock } from "../../platform/clock.ts";
import type { ListedRendition } from "../packaging/hls/live-multivariant.ts";
import type { StoredMedia } from "../stored/stored-media.ts";
import type { StillFormat } from "../transcode/index.ts";
import { KeptStills } from "./kept-stills.ts";
import { newestKeyframe } from "./live-keyframes.ts";
import type { ImageShape, Keyframe, StillMaker } from "./still-maker.ts";
import { findKeyframe, readKeyframe } from "./stored-keyframes.ts";
import { storyboardOf } from "./storyboard.ts";

/** A client waits this long for a picture. */
const ANSWER_MS = 4_000;
/** Minimum interval between decodes of a stream's picture in one size, however many viewers request it. */
const LIVE_STILL_MS = 5_000;
/** Of a picture for which no width was asked. */
export const KEYFRAME_SHAPE = { maxWidth: 640, maxHeight: 360 } as const;
/** Without a requested width, a smaller rendition is only used if there is no larger one. */
const MIN_LIVE_WIDTH = 320;

/** A live session with its pictures. */
export interface PicturedSession {
  readonly sessionId: string;
  readonly listed: readonly ListedRendition[];
}

/** Thumbnails: images of keyframes, of live sessions and of stored media. */
export class Stills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, clock: Clock) {
    this.#maker = maker;
    this.#kept = new KeptStills(clock, ANSWER_MS);
  }

  /** The newest picture of a live session. Null if none can be decoded independently. */
  newest(
    { sessionId, listed }: PicturedSession,
    width: number | null,
    format: StillFormat,
  ): Promise<Uint8Array | null> {
    const size = width === null ? KEYFRAME_SHAPE : { maxWidth: width, maxHeight: width };
    return this.#kept.get(`${sessionId} ${width} ${format}`, LIVE_STILL_MS, async () => {
      const keyframe = newestKeyframe(listed, width ?? MIN_LIVE_WIDTH);
      return keyframe && this.#maker.make(keyframe, { ...size, format });
    });
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
    return this.of(`${media.index.id} ${rendition.rendition} ${segment.msn}`, () => readKeyframe(media, found), shape);
  }

  /** The picture of a keyframe; `name` is of the same one for ever. Null if it is nowhere. */
  of(name: string, read: () => Promise<Keyframe | null>, shape: ImageShape): Promise<Uint8Array | null> {
    return this.#kept.get(`${name} ${shape.maxWidth} ${shape.format}`, Number.POSITIVE_INFINITY, async () => {
      const keyframe = await read();
      return keyframe && this.#maker.make(keyframe, shape);
    });
  }
}
