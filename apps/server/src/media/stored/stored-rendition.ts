import type { MediaIndex, StoredRendition, StoredSegment, StoredTrack } from "../../ports/index.ts";
import { NO_BYTES, type StoredSpan } from "./span-writer.ts";

/** Assembles one rendition from its spans, in any order. Segments without a span become gaps. */
export function renditionOf(
  rendition: string,
  spans: readonly StoredSpan[],
  msns: readonly number[],
): StoredRendition | null {
  const own = spans.filter((span) => span.rendition === rendition);
  const track: StoredTrack | undefined = own[0]?.track;
  if (!track) return null;
  const rows = new Map(own.flatMap(({ segments }) => segments.map((row) => [row.msn, row] as const)));
  const segments: StoredSegment[] = [];
  for (const msn of msns) {
    const row = rows.get(msn);
    const last = segments.at(-1);
    if (row) segments.push(row);
    else if (last) segments.push(gapBehind(last, msn));
  }
  const spanBytes = new Map(
    own.map(({ span, segments: inside }) => [span, inside.reduce((sum, { length }) => sum + length, 0)]),
  );
  return { rendition, track, segments: withoutGapsAtEnd(segments), spanBytes };
}

function gapBehind(last: StoredSegment, msn: number): StoredSegment {
  const startTicks = last.startTicks + last.durationTicks;
  const { keyframeBytes: _, ...before } = last;
  return { ...before, msn, startTicks, isIndependent: false, ...NO_BYTES };
}

function withoutGapsAtEnd(segments: readonly StoredSegment[]): StoredSegment[] {
  const last = segments.findLastIndex(({ gap }) => !gap);
  return segments.slice(0, last + 1);
}

export function secondsOf({ renditions }: Pick<MediaIndex, "renditions">): number {
  return Math.max(
    0,
    ...renditions.map(
      ({ track, segments }) => segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / track.timescale,
    ),
  );
}
