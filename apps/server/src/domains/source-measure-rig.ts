import type { SourceMeasure } from "../ports/index.ts";

/** The measures of a source without fault, for tests. */
export const GOOD_SOURCE: SourceMeasure = {
  measuredSeconds: 10,
  frameRate: 30,
  keyframeIntervalMs: 2_000,
  video: "flowing",
  audio: "flowing",
  starvedSeconds: 0,
  clockJumps: 0,
  clockRepairs: 0,
  leftOut: null,
};
