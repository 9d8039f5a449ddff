import { clockText } from "../../shared/lib/quantities.ts";

/** The start and the end of a clip that is being made, in milliseconds of the video's time. */
export interface ClipMarks {
  readonly start: number | null;
  readonly end: number | null;
}

export type Mark = keyof ClipMarks;

export const NO_MARKS: ClipMarks = { start: null, end: null };

/** The marks after a key; null for a key that means nothing here. */
export function marksAfter(key: string, marks: ClipMarks, positionMs: number): ClipMarks | null {
  if (key === "i") return { ...marks, start: positionMs };
  if (key === "o") return { ...marks, end: positionMs };
  return null;
}

/** The marks with one of them elsewhere within the video. The other stays where it is, also where the two cross. */
export function markMoved(marks: ClipMarks, mark: Mark, ms: number, durationMs: number): ClipMarks {
  return { ...marks, [mark]: Math.round(Math.min(durationMs, Math.max(0, ms))) };
}

/** A moment of the video as `00:01:05.250`. */
export function momentText(ms: number): string {
  return `${clockText(Math.floor(ms / 1000))}.${String(ms % 1000).padStart(3, "0")}`;
}

/** The seconds by which a key moves the video; null for a key that does not move it. */
export function stepOf(key: string, isLarge: boolean, frameSeconds: number): number | null {
  const step = isLarge ? 1 : frameSeconds;
  if (key === "ArrowLeft") return -step;
  return key === "ArrowRight" ? step : null;
}

/** Milliseconds between the marks; null while one is missing or they stand the wrong way round. */
export function lengthOf({ start, end }: ClipMarks): number | null {
  return start !== null && end !== null && end > start ? end - start : null;
}
