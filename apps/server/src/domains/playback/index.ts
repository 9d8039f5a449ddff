/** Public interface of playback. */
export { accessTrialRoutes } from "./access-trial-routes.ts";
export { ContentGate } from "./content-gate.ts";
export { oembedRoutes } from "./oembed.ts";
export { ownerTokenRoutes } from "./owner-token-routes.ts";
export { PlayableFinder } from "./playable-finder.ts";
export { playbackRoutes } from "./playback-routes.ts";
export { StoredCatalogue } from "./stored-catalogue.ts";
export { type WatchPageDeps, watchPages } from "./watch-pages.ts";
