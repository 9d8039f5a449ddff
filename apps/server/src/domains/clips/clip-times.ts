import type { MediaIndex } from "../../ports/index.ts";

/** Times before 1973 count from the begin of the media. */
export const FIRST_WALL_CLOCK_MS = 1e11;

/** When what a player shows `ms` after the begin of the media was: holes between segments take no time there. */
export function momentAt({ renditions: [lead] }: MediaIndex, ms: number): number {
  let left = ms;
  let moment = 0;
  for (const { programDateTimeMs, durationTicks, gap } of lead?.segments ?? []) {
    if (gap) continue;
    const lasts = (durationTicks * 1000) / (lead?.track.timescale ?? 1);
    moment = programDateTimeMs + left;
    if (left < lasts) break;
    left -= lasts;
  }
  return Math.round(moment);
}

/** Up to when all renditions have something. */
export function endMsOf({ renditions }: MediaIndex): number {
  const ends = renditions.map(({ track, segments }) => {
    const last = segments.at(-1);
    return last ? last.programDateTimeMs + (last.durationTicks * 1000) / track.timescale : 0;
  });
  return Math.min(...ends);
}

/** An asset knows no time of day: its moments count from its begin. */
export function withTimes(index: MediaIndex | null): MediaIndex | null {
  const lead = index?.renditions[0];
  if (!index || !lead) return index;
  const beginMs = ((lead.segments[0]?.startTicks ?? 0) * 1000) / lead.track.timescale;
  return {
    ...index,
    renditions: index.renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map((segment) => ({
        ...segment,
        programDateTimeMs: Math.round((segment.startTicks * 1000) / rendition.track.timescale - beginMs),
      })),
    })),
  };
}
