import { useComputedColorScheme } from "@mantine/core";
import { lazy, Suspense, useState } from "react";
import { absoluteMoment } from "../lib/moments.ts";
import type { TimeSeries } from "../lib/time-series.ts";
import { strings } from "../strings.ts";
import classes from "./time-chart.module.css";

// uPlot is fetched when the first chart is looked at.
const Drawing = lazy(async () => ({ default: (await import("./time-chart-drawing.tsx")).TimeChartDrawing }));

interface Props {
  readonly title: string;
  /** What is measured, and how; on hover. */
  readonly hint?: string;
  readonly series: TimeSeries;
  /** The same function each time, or the chart is drawn anew. */
  readonly format: (value: number) => string;
  /** A value that is drawn as a line across: on one side of it something is wrong. */
  readonly limit?: number;
  /** With a scale at the left and the time below, where there is room for them. */
  readonly withAxes?: boolean;
  /** Pixels. */
  readonly height?: number;
}

/** One quantity over time, from zero up. Beside the title stands the newest value, or the one under the pointer. */
export function TimeChart({ title, hint, series, format, limit, withAxes = false, height = 64 }: Props) {
  const [pointed, setPointed] = useState<number | null>(null);
  const scheme = useComputedColorScheme();
  const { times, values } = series;
  const shown = pointed === null ? values.findLast((value) => value !== null) : values[pointed];
  const at = pointed === null ? undefined : times[pointed];
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.head} title={hint}>
        <span className="quiet">{title}</span>
        <span>
          {at !== undefined && <span className="quiet">{absoluteMoment(at)} </span>}
          <strong>{shown == null ? strings.actions.none : format(shown)}</strong>
        </span>
      </figcaption>
      <div
        className={withAxes ? undefined : classes.canvas}
        style={{ height }}
        role="img"
        aria-label={summaryOf(title, values, format)}
      >
        {values.length > 0 ? (
          <Suspense>
            {/* Another scheme has other colours, and a canvas does not follow by itself. */}
            <Drawing
              key={scheme}
              series={series}
              limit={limit}
              withAxes={withAxes}
              height={height}
              format={format}
              onPoint={setPointed}
            />
          </Suspense>
        ) : (
          <p className={classes.empty}>{strings.chart.empty}</p>
        )}
      </div>
    </figure>
  );
}

function summaryOf(title: string, values: TimeSeries["values"], format: Props["format"]): string {
  const known = values.filter((value) => value !== null);
  const newest = known.at(-1);
  if (newest === undefined) return `${title}: ${strings.chart.empty}`;
  return strings.chart.summary(title, format(newest), format(Math.min(...known)), format(Math.max(...known)));
}
