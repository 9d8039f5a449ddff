import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import charts from "../../shared/components/charts.module.css";
import { Figures } from "../../shared/components/figures.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { TimeChart } from "../../shared/components/time-chart.tsx";
import { countText, durationText, secondsText, shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { AudiencePanel } from "./audience-panel.tsx";
import { RangeSelect } from "./range-select.tsx";
import { type ViewSteps, viewersNowQuery, viewsQuery, viewTotalsQuery } from "./view-queries.ts";
import { type Range, rangeOf, stepSeries } from "./view-series.ts";

const text = strings.viewers.views;

/** The viewers of a playback id now and over a time range, the quality that they get, and the devices that they use. */
export function ViewersPanel({ playbackId }: { readonly playbackId: string }) {
  const [range, setRange] = useState<Range>("day");
  const now = useQuery(viewersNowQuery(playbackId));
  const views = useQuery(viewsQuery(playbackId, range));
  const { data: total } = useQuery(viewTotalsQuery(playbackId, range));
  const shown = (value: number | undefined, format: (value: number) => string) =>
    value === undefined ? strings.actions.none : format(value);
  return (
    <>
      <Panel title={text.title} action={<RangeSelect range={range} onRange={setRange} />}>
        <QueryProblem error={views.error ?? now.error} />
        <Figures
          figures={[
            { name: text.now, value: shown(now.data, countText) },
            { name: text.views, value: shown(total?.viewCount, countText) },
            { name: text.watched, value: shown(total?.playtimeMins, (minutes) => durationText(minutes * 60)) },
          ]}
        />
        {views.data &&
          (views.data.steps.some(({ viewCount }) => viewCount > 0) ? (
            <ViewsChart range={range} {...views.data} />
          ) : (
            <p className="quiet">{text.nobody}</p>
          ))}
      </Panel>
      <Panel title={text.quality} hint={text.qualityHint}>
        <Figures
          figures={[
            { name: text.firstPicture, value: shown(total?.ttffMs, secondsText) },
            { name: text.rebuffering, value: shown(total?.rebufferRatio, shareText) },
            { name: text.errors, value: shown(total?.viewCount ? total.errorRate : undefined, shareText) },
            { name: text.exits, value: shown(total?.exitsBeforeStart, shareText) },
          ]}
        />
        {views.data && total?.ttffMs !== undefined && <QualityCharts range={range} {...views.data} />}
      </Panel>
      <AudiencePanel playbackId={playbackId} range={range} />
    </>
  );
}

type ChartProps = { readonly range: Range } & ViewSteps;

function ViewsChart({ range, now, steps }: ChartProps) {
  return (
    <TimeChart
      title={text.steps[range]}
      series={stepSeries(
        range,
        now,
        steps.map(({ timestamp, viewCount }) => [timestamp, viewCount]),
      )}
      range={rangeOf(range, now)}
      format={countText}
    />
  );
}

/** The playback quality in each step. Steps in which no player reported are gaps. */
function QualityCharts({ range, now, steps }: ChartProps) {
  const series = (measureOf: (step: (typeof steps)[number]) => number | undefined) =>
    stepSeries(
      range,
      now,
      steps.map((step) => [step.timestamp, measureOf(step)]),
      null,
    );
  const common = { range: rangeOf(range, now), height: 120 };
  return (
    <div className={charts.charts}>
      <TimeChart title={text.firstPicture} series={series(({ ttffMs }) => ttffMs)} format={secondsText} {...common} />
      <TimeChart
        title={text.rebuffering}
        series={series(({ rebufferRatio }) => rebufferRatio)}
        format={shareText}
        {...common}
      />
      <TimeChart
        title={text.errors}
        series={series(({ ttffMs, errorRate }) => (ttffMs === undefined ? undefined : errorRate))}
        format={shareText}
        {...common}
      />
    </div>
  );
}
