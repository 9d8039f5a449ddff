import type { ClipMoments, MediaIndex } from "../../ports/index.ts";

/** Smaller times are offsets from the start of the media. */
export const FIRST_WALL_CLOCK_MS = 1e11;

/** What the media floor is asked to store for a clip: nothing that comes after the request. */
export function momentsOf(
  clip: Pick<ClipMoments, "assetId" | "projectId" | "sessionId">,
  { fromMs, toMs, askedAt }: { readonly fromMs: number; readonly toMs: number | null; readonly askedAt: number },
): ClipMoments {
  const isTimeOfDay = toMs !== null && toMs >= FIRST_WALL_CLOCK_MS;
  return { ...clip, fromMs, toMs: isTimeOfDay ? Math.min(toMs, askedAt) : askedAt };
}

/** The program date-time of what a player shows `ms` after the start of the media. Gaps between segments take no playing time. */
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

/** The time until which every rendition has media. */
export function endMsOf({ renditions }: MediaIndex): number {
  const ends = renditions.map(({ track, segments }) => {
    const last = segments.at(-1);
    return last ? last.programDateTimeMs + (last.durationTicks * 1000) / track.timescale : 0;
  });
  return Math.min(...ends);
}

/** An asset has no time of day: its program date-times are offsets from its start. */
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
