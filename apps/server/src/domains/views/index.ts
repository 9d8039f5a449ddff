/** The door of the views: who watches, who watched, and how many may. */
export { type NewViewers, ViewCounter } from "./view-counter.ts";
export { viewRoutes } from "./view-routes.ts";
export { countViewersOfStreams, forgetOldCounts } from "./view-store.ts";
export { ViewerLimit } from "./viewer-limit.ts";
