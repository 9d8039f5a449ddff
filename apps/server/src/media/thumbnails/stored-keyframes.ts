import { decoderConfigOf, entryType, firstSampleOf, readInit } from "@weir/formats/mp4";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { StoredMedia } from "../stored/stored-media.ts";
import type { Keyframe } from "./still-maker.ts";

/** More than any keyframe, even at 100 Mbit/s. */
const MAX_KEYFRAME_BYTES = 4 * 1024 * 1024;

/** The location of a keyframe in stored media: the start of a segment. */
export interface StoredKeyframe {
  readonly rendition: StoredRendition;
  readonly segment: StoredSegment;
}

/** The last keyframe at or before a time, in the rendition for images of this width. Null without video. */
export function findKeyframe(index: MediaIndex, seconds: number, width: number): StoredKeyframe | null {
  const rendition = renditionFor(index, width);
  const segment = rendition && segmentAt(rendition, seconds);
  return segment && { rendition, segment };
}

/** Null if it cannot be decoded independently or no longer exists. */
export async function readKeyframe(media: StoredMedia, keyframe: StoredKeyframe): Promise<Keyframe | null> {
  const { rendition, segment } = keyframe;
  const decoder = await readDecoder(media, keyframe);
  if (!decoder) return null;
  const data = await firstPictureIn(
    media.read(rendition.rendition, segment, { start: 0, end: MAX_KEYFRAME_BYTES - 1 }),
  );
  return data && { ...decoder, data };
}

/** The picture that a segment begins with, by its init segment. Null if nothing here decodes it. */
export async function keyframeIn(
  init: Uint8Array,
  segment: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Keyframe | null> {
  const { sampleEntry } = readInit(init);
  const codec = CODECS.get(entryType(sampleEntry));
  const data = codec ? await firstPictureIn(segment) : null;
  return codec && data ? { codec, config: decoderConfigOf(sampleEntry), data } : null;
}

const CODECS: ReadonlyMap<string, Keyframe["codec"]> = new Map([
  ["avc1", "avc"],
  ["avc3", "avc"],
  ["hvc1", "hevc"],
  ["hev1", "hevc"],
  ["av01", "av1"],
]);

async function firstPictureIn(segment: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Uint8Array | null> {
  let beginning: Uint8Array = new Uint8Array();
  for await (const more of segment) {
    beginning = Buffer.concat([beginning, more]);
    const data = firstSampleOf(beginning);
    if (data) return data;
  }
  return null;
}

/** What decodes the keyframe. Null if nothing here does, or its init segment no longer exists. */
export async function readDecoder(
  media: StoredMedia,
  { rendition: { rendition, track }, segment }: StoredKeyframe,
): Promise<Omit<Keyframe, "data"> | null> {
  const { codec } = track;
  if (codec !== "avc" && codec !== "hevc" && codec !== "av1") return null;
  const init = await media.readInit(rendition, segment.init);
  return init && { codec, config: decoderConfigOf(readInit(init).sampleEntry) };
}

/** In a rung that was paused for longer, many an image would show another moment. */
const MAX_MISSING_PART = 0.05;

/** The smallest rendition that is wide enough and lacks little, else the largest. Null without video. */
export function renditionFor({ renditions }: MediaIndex, width: number): StoredRendition | null {
  const pictures = renditions
    .filter(({ track, segments }) => track.kind === "video" && segments.length > 0)
    .toSorted((a, b) => (a.track.width ?? 0) - (b.track.width ?? 0));
  const gapsIn = ({ segments }: StoredRendition): number => segments.filter(({ gap }) => gap).length;
  // What all of them lack, as where viewers were shown a slate, no other has either.
  const fewest = Math.min(...pictures.map(gapsIn));
  const isFit = (rendition: StoredRendition): boolean =>
    (rendition.track.width ?? 0) >= width && gapsIn(rendition) - fewest <= rendition.segments.length * MAX_MISSING_PART;
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
