/** Public interface of views: current and past viewers, and viewer limits. */
export { ViewCounter } from "./view-counter.ts";
export { viewRoutes } from "./view-routes.ts";
export { countViewersOfStreams, forgetOldCounts } from "./view-store.ts";
export { ViewerLimit } from "./viewer-limit.ts";
