import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import { durationText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { viewersNowQuery, viewsQuery } from "./view-queries.ts";
import { RANGES, type Range, totalOf, viewSeries } from "./view-series.ts";

const text = strings.viewers.views;
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const count = (value: number): string => (Number.isInteger(value) ? whole.format(value) : "");

/** How many watch, and how many did. */
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
          format={count}
          withAxes
          height={160}
        />
      )}
      <Figures
        figures={[
          { name: text.now, value: now.data === undefined ? waiting : whole.format(now.data) },
          { name: text.views, value: total ? whole.format(total.views) : waiting },
          { name: text.watched, value: total ? durationText(total.minutes * 60) : waiting },
        ]}
      />
    </Panel>
  );
}
