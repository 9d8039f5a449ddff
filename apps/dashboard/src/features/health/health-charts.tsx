import type { StreamEvent } from "@weir/contract";
import { type ReactNode, useMemo } from "react";
import classes from "../../shared/components/charts.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { TimeChart } from "../../shared/components/time-chart.tsx";
import { bitrateText, countText, frameRateText, secondsText } from "../../shared/lib/quantities.ts";
import type { TimeRange } from "../../shared/lib/time-series.ts";
import { strings } from "../../shared/strings.ts";
import { seriesOf, speedText } from "./health-series.ts";

const text = strings.health.charts;
/** Above this, segments are cut without a keyframe. */
const LATE_KEYFRAME_MS = 4000;

interface Props {
  readonly title: string;
  readonly events: readonly StreamEvent[];
  readonly range: TimeRange;
  /** The interval to which the measurements were thinned out. */
  readonly intervalMs?: number;
  /** The stream has renditions, so there is a transcoding speed to draw. */
  readonly isTranscoded: boolean;
  /** A newest value older than this is not the present one. */
  readonly freshMs?: number;
  readonly children?: ReactNode;
}

/** Viewers and what was measured of the source and the transcoder, over one stretch of time. */
export function HealthCharts({ title, events, range, intervalMs = 0, isTranscoded, freshMs, children }: Props) {
  const fresh = freshMs === undefined ? {} : { freshMs };
  const series = useMemo(() => seriesOf(events, 0, intervalMs), [events, intervalMs]);
  return (
    <Panel title={title}>
      <div className={classes.charts}>
        <TimeChart
          title={text.viewers}
          hint={text.viewersHint}
          nothing={text.noViewers}
          series={series.viewers}
          range={range}
          {...fresh}
          format={countText}
        />
        <TimeChart
          title={text.ingest}
          hint={text.ingestHint}
          series={series.ingestRate}
          range={range}
          {...fresh}
          format={bitrateText}
        />
        <TimeChart
          title={text.frameRate}
          hint={text.frameRateHint}
          series={series.frameRate}
          range={range}
          {...fresh}
          format={frameRateText}
        />
        <TimeChart
          title={text.keyframes}
          hint={text.keyframesHint}
          series={series.keyframeIntervalMs}
          range={range}
          {...fresh}
          format={secondsText}
          limit={LATE_KEYFRAME_MS}
        />
        {isTranscoded && (
          <TimeChart
            title={text.ratio}
            hint={text.ratioHint}
            series={series.ratio}
            range={range}
            {...fresh}
            format={speedText}
            limit={1}
          />
        )}
      </div>
      {children}
    </Panel>
  );
}
