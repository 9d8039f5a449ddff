/**
 * The waist: everything that the media floor and the domain floor say to each other. Small interfaces, all of their values
 * structured-cloneable, so that the two floors may sit in one process or in many. Only `roles/` knows both sides.
 */
export * from "./asset-ledger.ts";
export type * from "./clip-maker.ts";
export type * from "./facts.ts";
export type * from "./media-control.ts";
export * from "./media-index.ts";
export * from "./playback-gate.ts";
export type * from "./publish-gate.ts";
