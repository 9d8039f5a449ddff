import { decoderConfigOf, firstSampleOf, readInit } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import type { ByteRange } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import { KeptStills } from "./kept-stills.ts";
import type { Keyframe, StillMaker, StillShape } from "./still-maker.ts";

/** A keyframe of 100 Mbit/s is far smaller. */
const MAX_KEYFRAME_BYTES = 4 * 1024 * 1024;

/** Where the bytes of stored media are read. */
export interface StoredBytes {
  read(key: string, range: ByteRange): AsyncIterable<Uint8Array>;
  /** Null for one that is not there. */
  readInit(key: string): Promise<Uint8Array | null>;
}

/** Pictures of stored media: the keyframe that a segment begins with. */
export class StoredStills {
  readonly #maker: Pick<StillMaker, "make">;
  readonly #bytes: StoredBytes;
  readonly #kept: KeptStills;

  constructor(maker: Pick<StillMaker, "make">, bytes: StoredBytes, clock: Clock) {
    this.#maker = maker;
    this.#bytes = bytes;
    this.#kept = new KeptStills(clock);
  }

  /** The picture at a time, or at the last keyframe before it. Null where there is no picture. */
  async at(index: MediaIndex, seconds: number, shape: StillShape): Promise<Uint8Array | null> {
    const rendition = renditionFor(index, shape.maxWidth);
    const segment = rendition && segmentAt(rendition, seconds);
    if (!segment) return null;
    const key = `${index.id} ${rendition.rendition} ${segment.msn} ${shape.maxWidth} ${shape.format}`;
    return this.#kept.get(key, Number.POSITIVE_INFINITY, async () => {
      const keyframe = await this.#keyframe(`${index.keyPrefix}${rendition.rendition}/`, rendition, segment);
      return keyframe && this.#maker.make(keyframe, shape);
    });
  }

  async #keyframe(prefix: string, { track }: StoredRendition, segment: StoredSegment): Promise<Keyframe | null> {
    const { codec } = track;
    if (codec !== "avc" && codec !== "hevc" && codec !== "av1") return null;
    const init = await this.#bytes.readInit(`${prefix}${segment.init}`);
    if (!init) return null;
    const bytes = Math.min(segment.length, MAX_KEYFRAME_BYTES);
    const range = { start: segment.offset, end: segment.offset + bytes - 1 };
    let beginning: Uint8Array = new Uint8Array();
    for await (const more of this.#bytes.read(`${prefix}${segment.span}`, range)) {
      beginning = Buffer.concat([beginning, more]);
      const data = firstSampleOf(beginning);
      if (data) return { codec, config: decoderConfigOf(readInit(init).sampleEntry), data };
    }
    return null;
  }
}

/** The smallest that is large enough, else the largest; null where there are no pictures. */
export function renditionFor({ renditions }: MediaIndex, width: number): StoredRendition | null {
  const pictures = renditions
    .filter(({ track, segments }) => track.kind === "video" && segments.length > 0)
    .toSorted((a, b) => (a.track.width ?? 0) - (b.track.width ?? 0));
  return pictures.find(({ track }) => (track.width ?? 0) >= width) ?? pictures.at(-1) ?? null;
}

/** The last segment with a keyframe that begins at that time or before it, else the first behind it. */
function segmentAt({ segments, track }: StoredRendition, seconds: number): StoredSegment | null {
  const ticks = seconds * track.timescale;
  let startTicks = 0;
  let found: StoredSegment | null = null;
  for (const segment of segments) {
    if (found && startTicks > ticks) break;
    // What an earlier version recorded does not say.
    if (!segment.gap && segment.isIndependent !== false) found = segment;
    startTicks += segment.durationTicks;
  }
  return found;
}
