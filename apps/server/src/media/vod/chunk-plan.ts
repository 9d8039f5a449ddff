import { TICKS_PER_SECOND } from "../packet.ts";
import type { ScannedPicture, SegmentStart } from "./vod-protocol.ts";

/** Short enough that little is lost with a worker, long enough that starting a child does not count. */
const CHUNK_SECONDS = 30;

/** Segments that are encoded in one go. */
export interface Chunk {
  readonly segments: readonly SegmentStart[];
  readonly endTicks: number;
}

/** A file's segments in chunks. Each chunk begins with a keyframe of the source: what lies between two keyframes is one chunk, however long it is. */
export function planChunks(
  { segments, endTicks }: Pick<ScannedPicture, "segments" | "endTicks">,
  seconds = CHUNK_SECONDS,
): Chunk[] {
  const groups: SegmentStart[][] = [];
  for (const segment of segments) {
    const group = groups.at(-1);
    const start = group?.[0]?.ticks ?? 0;
    if (group && !(segment.isKeyframe && segment.ticks >= start + seconds * TICKS_PER_SECOND)) group.push(segment);
    else groups.push([segment]);
  }
  return groups.map((group, n) => ({ segments: group, endTicks: groups[n + 1]?.[0]?.ticks ?? endTicks }));
}
