/** Values over time: two lists of one length. Null is a gap. */
export interface TimeSeries {
  /** Milliseconds since the epoch, rising. */
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
}

/** A stretch of time, in milliseconds since the epoch. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}
