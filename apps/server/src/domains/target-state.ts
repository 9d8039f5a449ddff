import type { TargetReport } from "../ports/index.ts";

/** How a target of a live stream is doing. */
export interface TargetState extends Omit<TargetReport, "metrics"> {
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}
