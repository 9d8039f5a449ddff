import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import { countText, durationText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { viewersNowQuery, viewsQuery } from "./view-queries.ts";
import { RANGES, type Range, rangeOf, totalOf, viewSeries } from "./view-series.ts";

const text = strings.viewers.views;

/** Viewers now and over a time range. */
export function ViewersPanel({ playbackId }: { readonly playbackId: string }) {
  const [range, setRange] = useState<Range>("day");
  const now = useQuery(viewersNowQuery(playbackId));
  const views = useQuery(viewsQuery(playbackId, range));
  const total = views.data && totalOf(views.data.told);
  const waiting = strings.actions.none;
  return (
    <Panel title={text.title}>
      <QueryProblem error={views.error ?? now.error} />
      <NativeSelect
        label={text.range}
        value={range}
        data={(Object.keys(RANGES) as Range[]).map((value) => ({ value, label: text.ranges[value] }))}
        onChange={(event) => setRange(event.currentTarget.value as Range)}
      />
      {views.data && (
        <TimeChart
          title={text.steps[range]}
          series={viewSeries(range, views.data.now, views.data.told)}
          range={rangeOf(range, views.data.now)}
          format={countText}
        />
      )}
      <Figures
        figures={[
          { name: text.now, value: now.data === undefined ? waiting : countText(now.data) },
          { name: text.views, value: total ? countText(total.views) : waiting },
          { name: text.watched, value: total ? durationText(total.minutes * 60) : waiting },
        ]}
      />
      <p className="quiet">{text.noPlaces}</p>
    </Panel>
  );
}
