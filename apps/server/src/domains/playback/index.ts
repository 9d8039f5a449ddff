/** The door of playback. */
export { accessTrialRoutes } from "./access-trial-routes.ts";
export { ContentGate } from "./content-gate.ts";
export { playbackRoutes } from "./playback-routes.ts";
