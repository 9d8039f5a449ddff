import type { TimeRange, TimeSeries } from "../../shared/lib/time-series.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The time ranges that a person can look back on, each in steps of its own. */
export const RANGES = {
  day: { steps: 24, stepMs: HOUR_MS, timeStep: "hour" },
  month: { steps: 30, stepMs: DAY_MS, timeStep: "day" },
} as const;
export type Range = keyof typeof RANGES;

/** The begin of a range that ends now, in milliseconds since the epoch: at a full step, because the server counts full steps. */
export function beginOf(range: Range, now: number): number {
  const { steps, stepMs } = RANGES[range];
  return now - (now % stepMs) - (steps - 1) * stepMs;
}

/** From the begin of the first step to the begin of the last. */
export function rangeOf(range: Range, now: number): TimeRange {
  const { steps, stepMs } = RANGES[range];
  const from = beginOf(range, now);
  return { from, to: from + (steps - 1) * stepMs };
}

/** One value for each step of the range. A step that is not among `values`, or has none, is `empty`. */
export function stepSeries(
  range: Range,
  now: number,
  values: Iterable<readonly [time: number | undefined, value: number | undefined]>,
  empty: 0 | null = 0,
): TimeSeries {
  const { steps, stepMs } = RANGES[range];
  const begin = beginOf(range, now);
  const known = new Map(values);
  const times = Array.from({ length: steps }, (_, i) => begin + i * stepMs);
  return { times, values: times.map((time) => known.get(time) ?? empty) };
}
