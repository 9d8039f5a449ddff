import { decoderConfigOf, firstSampleOf, readInit } from "@weir/formats/mp4";
import type { ByteRange } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { Keyframe } from "./still-maker.ts";

/** More than any keyframe, even at 100 Mbit/s. */
const MAX_KEYFRAME_BYTES = 4 * 1024 * 1024;

/** Reads the bytes of stored media. */
export interface StoredBytes {
  read(key: string, range: ByteRange): AsyncIterable<Uint8Array>;
  /** Null for a missing object. */
  readInit(key: string): Promise<Uint8Array | null>;
}

/** The location of a keyframe in stored media: the start of a segment. */
export interface StoredKeyframe {
  readonly index: MediaIndex;
  readonly rendition: StoredRendition;
  readonly segment: StoredSegment;
}

/** The last keyframe at or before a time, in the rendition for images of this width. Null without video. */
export function findKeyframe(index: MediaIndex, seconds: number, width: number): StoredKeyframe | null {
  const rendition = renditionFor(index, width);
  const segment = rendition && segmentAt(rendition, seconds);
  return segment && { index, rendition, segment };
}

/** Null if it cannot be decoded independently or no longer exists. */
export async function readKeyframe(
  bytes: StoredBytes,
  { index, rendition: { rendition, track }, segment }: StoredKeyframe,
): Promise<Keyframe | null> {
  const { codec } = track;
  if (codec !== "avc" && codec !== "hevc" && codec !== "av1") return null;
  const prefix = `${index.keyPrefix}${rendition}/`;
  const init = await bytes.readInit(`${prefix}${segment.init}`);
  if (!init) return null;
  const length = Math.min(segment.length, MAX_KEYFRAME_BYTES);
  const range = { start: segment.offset, end: segment.offset + length - 1 };
  let beginning: Uint8Array = new Uint8Array();
  for await (const more of bytes.read(`${prefix}${segment.span}`, range)) {
    beginning = Buffer.concat([beginning, more]);
    const data = firstSampleOf(beginning);
    if (data) return { codec, config: decoderConfigOf(readInit(init).sampleEntry), data };
  }
  return null;
}

/** In a rung that was paused for longer, many an image would show another moment. */
const MAX_MISSING_PART = 0.05;

/** The smallest rendition that is wide enough and lacks little, else the largest. Null without video. */
export function renditionFor({ renditions }: MediaIndex, width: number): StoredRendition | null {
  const pictures = renditions
    .filter(({ track, segments }) => track.kind === "video" && segments.length > 0)
    .toSorted((a, b) => (a.track.width ?? 0) - (b.track.width ?? 0));
  const isFit = ({ track, segments }: StoredRendition): boolean =>
    (track.width ?? 0) >= width && segments.filter(({ gap }) => gap).length <= segments.length * MAX_MISSING_PART;
  return pictures.find(isFit) ?? pictures.at(-1) ?? null;
}

/** The last segment with a keyframe at or before a time, else the first one after it. */
function segmentAt({ segments, track }: StoredRendition, seconds: number): StoredSegment | null {
  const ticks = seconds * track.timescale;
  let startTicks = 0;
  let found: StoredSegment | null = null;
  for (const segment of segments) {
    if (found && startTicks > ticks) break;
    // Recordings of earlier versions do not have `isIndependent`.
    if (!segment.gap && segment.isIndependent !== false) found = segment;
    startTicks += segment.durationTicks;
  }
  return found;
}
