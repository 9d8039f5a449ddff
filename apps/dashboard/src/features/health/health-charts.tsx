import type { Stream } from "@weir/contract";
import { useMemo } from "react";
import { Panel } from "../../components/panel.tsx";
import { StateLabel } from "../../components/state-label.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import { bitrateText, frameRateText, ratioText, secondsText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { useStreamEvents } from "../events/event-queries.tsx";
import classes from "./health-charts.module.css";
import { seriesOf } from "./health-series.ts";

const text = strings.health.charts;
/** From here on segments are cut without a keyframe. */
const LATE_KEYFRAME_MS = 4000;

/** What was measured of the source and the transcoder, drawn as it comes. */
export function HealthCharts({ stream }: { readonly stream: Stream }) {
  const { events } = useStreamEvents();
  const series = useMemo(() => seriesOf(events, 0), [events]);
  const { renditions = [] } = stream.status;
  return (
    <Panel title={text.title}>
      <div className={classes.charts}>
        <TimeChart title={text.ingest} hint={text.ingestHint} series={series.ingestRate} format={bitrateText} />
        <TimeChart title={text.frameRate} hint={text.frameRateHint} series={series.frameRate} format={frameRateText} />
        <TimeChart
          title={text.keyframes}
          hint={text.keyframesHint}
          series={series.keyframeIntervalMs}
          format={secondsText}
          limit={LATE_KEYFRAME_MS}
        />
        <TimeChart title={text.ratio} hint={text.ratioHint} series={series.ratio} format={ratioText} limit={1} />
      </div>
      {renditions.length > 0 && (
        <ul className={classes.rungs} aria-label={text.rungs} title={text.rungsHint}>
          {renditions.map(({ name, state, lagMs }) => (
            <li key={name}>
              <strong>{name}</strong>
              <StateLabel tone={state === "running" ? "live" : state === "gap" ? "warning" : "quiet"}>
                {strings.streams.ladder.states[state]}
              </StateLabel>
              {state === "running" && lagMs !== undefined && (
                <span className="quiet">{strings.streams.ladder.lag((lagMs / 1000).toFixed(1))}</span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
