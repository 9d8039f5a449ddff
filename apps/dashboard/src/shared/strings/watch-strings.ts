import { absoluteDay, relativeMoment } from "../lib/moments.ts";
import { countText } from "../lib/quantities.ts";

/** The public pages: `/watch/…` and `/embed/…`. */
export const watchStrings = {
  watching: (count: number) => `${countText(count)} watching now`,
  started: (at: number) => `Started ${relativeMoment(at, Date.now())}`,
  lastLive: (at: number) => `Last live ${absoluteDay(at)}`,
  views: (count: number) => (count === 1 ? "1 view" : `${countText(count)} views`),
} as const;
