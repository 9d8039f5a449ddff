import { TICKS_PER_SECOND } from "../packet.ts";
import type { ScannedPicture, SegmentStart } from "./vod-protocol.ts";

/** Short enough to lose little work with a crashed worker, long enough that starting a child hardly counts. */
const CHUNK_SECONDS = 30;

/** Segments that are encoded in one job. */
export interface Chunk {
  readonly segments: readonly SegmentStart[];
  readonly endTicks: number;
}

/** Groups a file's segments into chunks. Each chunk starts with a keyframe of the source, so a long GOP is one chunk. */
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
