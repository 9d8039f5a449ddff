import type { TargetReport } from "../ports/index.ts";

/** The state of a live stream's target. */
export interface TargetState extends Omit<TargetReport, "metrics"> {
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}
