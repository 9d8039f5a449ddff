import { useComputedColorScheme } from "@mantine/core";
import { Suspense, useState } from "react";
import { lazyPage } from "../lib/lazy-page.ts";
import { clockMoment } from "../lib/moments.ts";
import type { TimeRange, TimeSeries } from "../lib/time-series.ts";
import { strings } from "../strings.ts";
import { PanelBoundary } from "./panel-boundary.tsx";
import classes from "./time-chart.module.css";

// uPlot is loaded with the first chart.
const Drawing = lazyPage(() => import("./time-chart-drawing.tsx"), "TimeChartDrawing");

interface Props {
  readonly title: string;
  /** How the value is measured. */
  readonly hint?: string;
  readonly series: TimeSeries;
  /** Both ends of the time axis, whatever times the series has. */
  readonly range: TimeRange;
  /** Pass the same function each time: another function redraws the chart. */
  readonly format: (value: number) => string;
  /** The chart draws a line across at this value: on one side of it something is wrong. */
  readonly limit?: number;
  /** A newest value older than this is not the present one. */
  readonly freshMs?: number;
  /** Stands in place of a line that is zero all along. */
  readonly nothing?: string;
  /** Pixels. */
  readonly height?: number;
}

/** One quantity over time, from zero up. The line below the title has the newest value, or the one under the pointer. */
export function TimeChart({ title, hint, series, range, format, limit, freshMs, nothing, height = 150 }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const scheme = useComputedColorScheme();
  const { times, values } = series;
  const shown = pointed === null ? newestOf(series, range.to - (freshMs ?? Number.POSITIVE_INFINITY)) : values[pointed];
  const at = pointed === null ? undefined : times[pointed];
  const isDrawn = values.length > 0 && (nothing === undefined || values.some((value) => value));
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.head} title={hint}>
        <span className={classes.title}>{title}</span>
        <span className={classes.value}>
          {at !== undefined && <span className="quiet">{clockMoment(at, range.to)} </span>}
          <strong>{shown == null ? strings.actions.none : format(shown)}</strong>
        </span>
      </figcaption>
      <div style={{ height }} role="img" aria-label={summaryOf(title, values, format)}>
        {isDrawn ? (
          <PanelBoundary>
            {/* Another colour scheme needs another drawing: a canvas does not follow it. */}
            <Suspense>
              <Drawing
                key={scheme}
                series={series}
                range={range}
                limit={limit}
                height={height}
                format={format}
                onPoint={setPointed}
              />
            </Suspense>
          </PanelBoundary>
        ) : (
          <p className={classes.empty}>{values.length > 0 ? nothing : strings.chart.empty}</p>
        )}
      </div>
    </figure>
  );
}

/** The newest value at or after a moment. */
function newestOf({ times, values }: TimeSeries, since: number): number | null {
  const at = values.findLastIndex((value) => value !== null);
  return at >= 0 && (times[at] ?? 0) >= since ? (values[at] ?? null) : null;
}

function summaryOf(title: string, values: TimeSeries["values"], format: Props["format"]): string {
  const known = values.filter((value) => value !== null);
  const newest = known.at(-1);
  if (newest === undefined) return `${title}: ${strings.chart.empty}`;
  return strings.chart.summary(title, format(newest), format(Math.min(...known)), format(Math.max(...known)));
}
