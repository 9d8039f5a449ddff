/** The door of playback. */
export { ContentGate } from "./content-gate.ts";
export { playbackRoutes } from "./playback-routes.ts";
