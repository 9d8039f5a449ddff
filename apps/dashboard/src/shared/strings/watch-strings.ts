import { absoluteDay, relativeMoment } from "../lib/moments.ts";
import { countText } from "../lib/quantities.ts";

/** The public pages: `/watch/…` and `/embed/…`. */
export const watchStrings = {
  video: "Video",
  loading: "Loading…",
  offline: "This stream is offline. It starts here as soon as the broadcast begins.",
  ended: "The broadcast has ended. The next one starts here.",
  notFound: "This video does not exist.",
  notReady: "This recording is not ready yet. It starts here as soon as it is.",
  watching: (count: number) => `${countText(count)} watching now`,
  started: (at: number) => `Started ${relativeMoment(at, Date.now())}`,
  lastLive: (at: number) => `Last live ${absoluteDay(at)}`,
  views: (count: number) => (count === 1 ? "1 view" : `${countText(count)} views`),
  unreachable: "Cannot reach the server. Retrying…",
} as const;
