/**
 * The waist: everything that the media floor and the domain floor say to each other. The interfaces are small, and all values can be cloned by
 * structuredClone, so that the two floors can run in one process or in several. Only `roles/` knows both sides.
 */
export * from "./asset-processor.ts";
export * from "./clip-maker.ts";
export type * from "./facts.ts";
export type * from "./file-exporter.ts";
export * from "./file-transcoder.ts";
export type * from "./held-sessions.ts";
export type * from "./media-catalogue.ts";
export type * from "./media-control.ts";
export * from "./media-index.ts";
export * from "./playback-gate.ts";
export type * from "./publish-gate.ts";
export type * from "./pull-gate.ts";
export * from "./task-run.ts";
