import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Figures } from "../../components/figures.tsx";
import { Panel } from "../../components/panel.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { TimeChart } from "../../components/time-chart.tsx";
import { countText, durationText, secondsText, shareText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { AudienceList } from "./audience-list.tsx";
import { viewersNowQuery, viewsQuery, viewTotalsQuery } from "./view-queries.ts";
import { RANGES, type Range, rangeOf, viewSeries } from "./view-series.ts";

const text = strings.viewers.views;

/** Viewers now and over a time range, how well the video played for them, and who they are. */
export function ViewersPanel({ playbackId }: { readonly playbackId: string }) {
  const [range, setRange] = useState<Range>("day");
  const now = useQuery(viewersNowQuery(playbackId));
  const views = useQuery(viewsQuery(playbackId, range));
  const { data: total } = useQuery(viewTotalsQuery(playbackId, range));
  const shown = (value: number | undefined, format: (value: number) => string) =>
    value === undefined ? strings.actions.none : format(value);
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
          { name: text.now, value: shown(now.data, countText) },
          { name: text.views, value: shown(total?.viewCount, countText) },
          { name: text.watched, value: shown(total?.playtimeMins, (minutes) => durationText(minutes * 60)) },
          { name: text.firstPicture, hint: text.reported, value: shown(total?.ttffMs, secondsText) },
          { name: text.rebuffering, hint: text.reported, value: shown(total?.rebufferRatio, shareText) },
          { name: text.errors, hint: text.reported, value: shown(total?.errorRate, shareText) },
        ]}
      />
      <AudienceList playbackId={playbackId} range={range} />
    </Panel>
  );
}
