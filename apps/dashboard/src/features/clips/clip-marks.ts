/** The start and the end of a clip that is being made, in milliseconds of the video's time. */
export interface ClipMarks {
  readonly start: number | null;
  readonly end: number | null;
}

export const NO_MARKS: ClipMarks = { start: null, end: null };

/** The marks after a key; null for a key that means nothing here. */
export function marksAfter(key: string, marks: ClipMarks, positionMs: number): ClipMarks | null {
  if (key === "i") return { ...marks, start: positionMs };
  if (key === "o") return { ...marks, end: positionMs };
  return null;
}

/** How far a key moves the video, in seconds; null for a key that does not. */
export function stepOf(key: string, isLarge: boolean, frameSeconds: number): number | null {
  const step = isLarge ? 1 : frameSeconds;
  if (key === "ArrowLeft") return -step;
  return key === "ArrowRight" ? step : null;
}

/** Milliseconds between the marks; null while one is missing or they stand the wrong way round. */
export function lengthOf({ start, end }: ClipMarks): number | null {
  return start !== null && end !== null && end > start ? end - start : null;
}
