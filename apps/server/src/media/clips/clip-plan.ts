import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";

/** The part of one segment that is in the clip, in ticks of the rendition's timeline. */
export interface ClipPiece {
  /** Its MSN in the clip, from 1. */
  readonly msn: number;
  readonly segment: StoredSegment;
  readonly fromTicks: number;
  readonly toTicks: number;
  readonly isWhole: boolean;
}

export interface ClipTrack {
  readonly rendition: StoredRendition;
  readonly pieces: readonly ClipPiece[];
}

export interface ClipPlan {
  /** Start and end of the clip on the parent's timeline, in seconds. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  readonly tracks: readonly ClipTrack[];
}

/** A cut this close to a segment boundary is moved to it. */
const TOLERANCE_SECONDS = 0.001;

/**
 * Finds the media between two program date-times. If the clock was set back and times repeat, the later stretch is used. Null if there is no media
 * between them.
 */
export function planClip({ renditions }: MediaIndex, fromMs: number, toMs: number): ClipPlan | null {
  const lead = renditions.find(({ track }) => track.kind === "video") ?? renditions[0];
  if (!lead) return null;
  const { timescale } = lead.track;
  const segments = lead.segments.filter(({ gap }) => !gap);
  const msOf = ({ durationTicks }: StoredSegment): number => (durationTicks * 1000) / timescale;
  const isBefore = (segment: StoredSegment): boolean => segment.programDateTimeMs + msOf(segment) <= fromMs;
  const first = segments.findLast((segment) => segment.programDateTimeMs <= fromMs && !isBefore(segment));
  const begin = first ?? segments.find((segment) => segment.programDateTimeMs > fromMs);
  const end = segments.findLast((segment) => segment.programDateTimeMs < toMs);
  if (!begin || !end || end.msn < begin.msn) return null;

  const secondsAt = (segment: StoredSegment, ms: number): number => {
    const inside = Math.min(Math.max(0, ms - segment.programDateTimeMs), msOf(segment));
    return segment.startTicks / timescale + inside / 1000;
  };
  const [fromSeconds, toSeconds] = [secondsAt(begin, fromMs), secondsAt(end, toMs)];
  if (toSeconds - fromSeconds < TOLERANCE_SECONDS) return null;
  const numbers = new Map<number, number>();
  for (const { msn } of segments) if (msn >= begin.msn && msn <= end.msn) numbers.set(msn, numbers.size + 1);
  const tracks = renditions.flatMap((rendition) => {
    const pieces = piecesOf(rendition, numbers, fromSeconds, toSeconds);
    // A rung that was paused in between is left out: a clip has no gaps.
    const isWhole = pieces.at(-1)?.msn === pieces.length || rendition.track.kind !== "video";
    return pieces.length > 0 && isWhole ? [{ rendition, pieces }] : [];
  });
  return { fromSeconds, toSeconds, tracks };
}

function piecesOf(
  { track: { timescale }, segments }: StoredRendition,
  numbers: ReadonlyMap<number, number>,
  fromSeconds: number,
  toSeconds: number,
): ClipPiece[] {
  const tolerance = TOLERANCE_SECONDS * timescale;
  return segments.flatMap((segment) => {
    const msn = numbers.get(segment.msn);
    if (msn === undefined || segment.gap) return [];
    const [start, end] = [segment.startTicks, segment.startTicks + segment.durationTicks];
    const fromTicks = Math.max(start, Math.round(fromSeconds * timescale));
    const toTicks = Math.min(end, Math.round(toSeconds * timescale));
    if (toTicks - fromTicks < tolerance) return [];
    const isWhole = fromTicks - start < tolerance && end - toTicks < tolerance;
    return [{ msn, segment, fromTicks, toTicks, isWhole }];
  });
}
