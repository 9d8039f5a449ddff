import type { StoredSegment } from "../../ports/index.ts";

/** More are not listed one by one: a session that moves to another node may leave a day of numbers. */
const MAX_MISSING = 1_000;

/** Where a segment is on the timeline of its session, in any unit of time. */
export interface TimelinePlace {
  readonly msn: number;
  readonly start: number;
  readonly duration: number;
  readonly programDateTimeMs: number;
}

/** Where the next segment begins. */
export interface NextPlace extends Omit<TimelinePlace, "duration"> {
  /** Its timestamps need not go on with those before. */
  readonly isBreak?: boolean;
}

/**
 * The numbers between two segments, which take the time between them. Listed as gaps, they need no discontinuity behind them, because timestamps go on
 * with the list (RFC 8216bis 4.4.4.3, 4.4.4.7). Where there is one all the same, they take the time by the clock if that is shorter: dates and durations
 * then agree. None if nothing is missing; null if that is too much. `perSecond`: the unit of time.
 */
export function missingBetween(last: TimelinePlace, next: NextPlace, perSecond: number): TimelinePlace[] | null {
  const count = next.msn - last.msn - 1;
  const from = last.start + last.duration;
  if (count <= 0) return [];
  if (count > MAX_MISSING) return null;
  const fromMs = last.programDateTimeMs + (last.duration / perSecond) * 1000;
  const msEach = Math.max(0, next.programDateTimeMs - fromMs) / count;
  const onTimeline = Math.max(0, (next.start - from) / count);
  const isByClock = next.isBreak === true && msEach > 0;
  const duration = isByClock ? Math.min(onTimeline, (msEach / 1000) * perSecond) : onTimeline;
  return Array.from({ length: count }, (_, nth) => ({
    ...{ msn: last.msn + 1 + nth, start: from + nth * duration, duration },
    programDateTimeMs: fromMs + nth * msEach,
  }));
}

/** Every number from the first segment to the last: of what was lost or never recorded, a gap; where that is too much, a discontinuity. */
export function* withMissing(segments: readonly StoredSegment[], timescale: number): Generator<StoredSegment, void> {
  let last: StoredSegment | null = null;
  for (const segment of segments) {
    const missing = last && missingBetween(placeOf(last), placeOf(segment), timescale);
    for (const place of missing ?? []) yield gapAt(place, segment.epoch);
    yield last && !missing ? { ...segment, discontinuity: true } : segment;
    last = segment;
  }
}

function placeOf({ msn, startTicks, durationTicks, programDateTimeMs }: StoredSegment): TimelinePlace {
  return { msn, start: startTicks, duration: durationTicks, programDateTimeMs };
}

function gapAt({ msn, start, duration, programDateTimeMs }: TimelinePlace, epoch: number): StoredSegment {
  const startTicks = Math.round(start);
  return {
    ...{ msn, epoch, startTicks, durationTicks: Math.round(start + duration) - startTicks },
    ...{ programDateTimeMs: Math.round(programDateTimeMs), discontinuity: false },
    ...{ gap: true, init: "", span: "", offset: 0, length: 0 },
  };
}
