import type { StreamEvent } from "@weir/contract";
import { ratioText } from "../../shared/lib/quantities.ts";
import type { TimeSeries } from "../../shared/lib/time-series.ts";
import { strings } from "../../shared/strings.ts";

/** The measures that the charts draw, in bytes per second, pictures per second, milliseconds and multiples of real time. */
export interface HealthSeries {
  readonly ingestRate: TimeSeries;
  readonly frameRate: TimeSeries;
  readonly keyframeIntervalMs: TimeSeries;
  readonly ratio: TimeSeries;
  readonly viewers: TimeSeries;
}

/** Multiples of real time above this are drawn as this: below it the line at 1 has room. */
const MAX_RATIO = 4;
/** The line breaks after this long without a sample. Samples come every 10 s and with every segment. */
const GAP_MS = 25_000;

/** A speed of the chart as words. */
export const speedText = (ratio: number): string =>
  ratio >= MAX_RATIO ? strings.health.charts.ratioAbove(ratioText(MAX_RATIO)) : ratioText(ratio);

/** The measures in a stretch of events as lines over time, from `since` on, in milliseconds since the epoch, at least every `intervalMs`. */
export function seriesOf(events: readonly StreamEvent[], since: number, intervalMs = 0): HealthSeries {
  const gapMs = Math.max(GAP_MS, 2.5 * intervalMs);
  const ingestRate = new Line(gapMs);
  const frameRate = new Line(gapMs);
  const keyframeIntervalMs = new Line(gapMs);
  const ratio = new Line(gapMs);
  const viewers = new Line(gapMs);
  let isFirst = true;
  for (const event of events) {
    if (event.timestamp < since) continue;
    if (event.type === "stream_state") isFirst = true;
    else if (event.type === "transcode" && event.success)
      ratio.add(event.timestamp, Math.min(MAX_RATIO, (event.segment.duration * 1000) / Math.max(1, event.latencyMs)));
    else if (event.type === "media_server_metrics") {
      const { stats, timestamp } = event;
      // The first one comes with the first keyframe: nothing was received before it to measure.
      if (!isFirst || stats.ingestRate !== 0) ingestRate.add(timestamp, stats.ingestRate);
      frameRate.add(timestamp, stats.frameRate);
      viewers.add(timestamp, stats.viewerCount);
      // The first keyframe has no interval.
      keyframeIntervalMs.add(timestamp, stats.keyframeIntervalMs || undefined);
      isFirst = false;
    }
  }
  return { ingestRate, frameRate, keyframeIntervalMs, ratio, viewers };
}

/** The highest value of a series; null for an empty one. */
export function highestOf({ values }: TimeSeries): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((a, b) => Math.max(a, b)) : null;
}

class Line implements TimeSeries {
  readonly times: number[] = [];
  readonly values: (number | null)[] = [];
  readonly #gapMs: number;

  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  add(time: number, value: number | undefined): void {
    if (value === undefined) return;
    const last = this.times.at(-1);
    if (last !== undefined && time - last > this.#gapMs) this.#push(last + 1, null);
    this.#push(time, value);
  }

  #push(time: number, value: number | null): void {
    this.times.push(time);
    this.values.push(value);
  }
}
