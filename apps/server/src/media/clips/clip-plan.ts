import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";

/** The part of one segment that is in the clip, in ticks of the rendition's timeline. */
export interface ClipPiece {
  /** Its MSN in the clip, from 1. */
  readonly msn: number;
  readonly segment: StoredSegment;
  readonly fromTicks: number;
  readonly toTicks: number;
  readonly isWhole: boolean;
  /** Seconds without media between the start of the clip and this piece. The clip has them not. */
  readonly skippedSeconds: number;
}

export interface ClipTrack {
  readonly rendition: StoredRendition;
  readonly pieces: readonly ClipPiece[];
}

export interface ClipPlan {
  /** Start and end of the clip on the parent's timeline, in seconds. */
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** Of these, seconds that the parent has no media for. */
  readonly skippedSeconds: number;
  readonly tracks: readonly ClipTrack[];
}

/** A cut this close to a segment boundary is moved to it. */
const TOLERANCE_SECONDS = 0.001;
/** Between two segments, less is a frame that is shown longer. */
const SHORTEST_HOLE_SECONDS = 0.25;

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
  const places = placesIn(
    segments.filter(({ msn }) => msn >= begin.msn && msn <= end.msn),
    renditions,
  );
  const tracks = renditions.flatMap((rendition) => {
    const pieces = piecesOf(rendition, places, fromSeconds, toSeconds);
    // A rung that was paused in between is left out: a clip has no gaps.
    const isWhole = pieces.at(-1)?.msn === pieces.length || rendition.track.kind !== "video";
    return pieces.length > 0 && isWhole ? [{ rendition, pieces }] : [];
  });
  const skippedSeconds = places.get(end.msn)?.skippedSeconds ?? 0;
  return { fromSeconds, toSeconds, skippedSeconds, tracks };
}

/** Where a segment of the parent is in the clip. */
type Place = Pick<ClipPiece, "msn" | "skippedSeconds">;

/** Of these segments, by their numbers. Between two, the parent may have none: a slate was shown, or a server was away. */
function placesIn(
  segments: readonly StoredSegment[],
  renditions: readonly StoredRendition[],
): ReadonlyMap<number, Place> {
  const places = new Map<number, Place>();
  let skippedSeconds = 0;
  let before: StoredSegment | undefined;
  for (const segment of segments) {
    if (before && segment.msn > before.msn + 1) skippedSeconds += holeBetween(before.msn, segment.msn, renditions);
    places.set(segment.msn, { msn: places.size + 1, skippedSeconds });
    before = segment;
  }
  return places;
}

/** Seconds for which no rendition has media: a frame of sound may reach into the hole that the pictures have. */
function holeBetween(before: number, next: number, renditions: readonly StoredRendition[]): number {
  const holes = renditions.flatMap(({ track: { timescale }, segments }) => {
    const [first, second] = [before, next].map((msn) => segments.find((each) => each.msn === msn && !each.gap));
    return first && second ? (second.startTicks - first.startTicks - first.durationTicks) / timescale : [];
  });
  const hole = holes.length > 0 ? Math.min(...holes) : 0;
  return hole >= SHORTEST_HOLE_SECONDS ? hole : 0;
}

function piecesOf(
  { track: { timescale }, segments }: StoredRendition,
  places: ReadonlyMap<number, Place>,
  fromSeconds: number,
  toSeconds: number,
): ClipPiece[] {
  const tolerance = TOLERANCE_SECONDS * timescale;
  return segments.flatMap((segment) => {
    const place = places.get(segment.msn);
    if (!place || segment.gap) return [];
    const [start, end] = [segment.startTicks, segment.startTicks + segment.durationTicks];
    const fromTicks = Math.max(start, Math.round(fromSeconds * timescale));
    const toTicks = Math.min(end, Math.round(toSeconds * timescale));
    if (toTicks - fromTicks < tolerance) return [];
    const isWhole = fromTicks - start < tolerance && end - toTicks < tolerance;
    return [{ ...place, segment, fromTicks, toTicks, isWhole }];
  });
}
