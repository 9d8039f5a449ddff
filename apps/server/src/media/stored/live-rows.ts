import { joinFragments } from "@weir/formats/mp4";
import type { StoredTrack } from "../../ports/index.ts";
import type { LiveSegment } from "../packaging/live-segment.ts";
import { rescale } from "../timeline/ticks.ts";
import type { UnplacedSegment } from "./span-writer.ts";

/** A live segment as the index of stored media describes it, in ticks of its rendition's track. */
export function storedRowOf(segment: LiveSegment, { timescale }: StoredTrack): UnplacedSegment {
  const { msn, storedInit: init, programDateTimeMs, discontinuity, parts } = segment;
  const [first] = init ? parts : [];
  const inTicks = (ticks: number): number => rescale(ticks, segment.timescale, timescale);
  return {
    ...{ msn, programDateTimeMs, discontinuity, init: init?.name ?? "" },
    ...{ startTicks: inTicks(segment.startTicks), durationTicks: inTicks(segment.durationTicks) },
    ...(first && { isIndependent: first.isIndependent }),
  };
}

/** Its bytes as they are stored. Stored media does not need parts, and players that seek in its MP4 need one fragment per segment. */
export function storedBytesOf({ parts, views }: LiveSegment): readonly Uint8Array[] {
  return joinFragments(parts.map((part) => part.views)) ?? views;
}
