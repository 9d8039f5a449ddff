import type { SegmentBlock } from "./segment-block.ts";

/** The beginning of a segment that decodes alone. */
export interface DvrMoment {
  readonly msn: number;
  /** By the clock, from the first moment of the list. */
  readonly seconds: number;
  readonly endSeconds: number;
  readonly programDateTimeMs: number;
}

/** Moments with a picture, some seconds apart, from the row `first` on. */
export function momentsIn(blocks: readonly SegmentBlock[], first: number, apart: number): readonly DvrMoment[] {
  const moments: DvrMoment[] = [];
  let [index, last, endSeconds, since] = [0, -1, 0, 0];
  for (const block of blocks)
    for (let at = 0; at < block.count; at++, index++) {
      if (index < first) continue;
      const programDateTimeMs = block.timeAt(at);
      if (index === first) since = programDateTimeMs;
      const seconds = (programDateTimeMs - since) / 1000;
      // By the clock, so that a moment stays one when the window has moved on.
      const slot = Math.floor(programDateTimeMs / (apart * 1000));
      if (slot > last && block.hasPicture(at)) {
        moments.push({ msn: block.msnAt(at), programDateTimeMs, seconds, endSeconds });
        last = slot;
      }
      endSeconds = seconds + block.secondsAt(at);
    }
  return moments.map((each, nth) => ({ ...each, endSeconds: moments[nth + 1]?.seconds ?? endSeconds }));
}
