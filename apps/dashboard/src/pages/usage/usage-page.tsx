import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { UsageMetric } from "@weir/contract";
import { useState } from "react";
import { AudiencePanel } from "../../features/views/audience-panel.tsx";
import { RangeSelect } from "../../features/views/range-select.tsx";
import { type Range, rangeOf, stepSeries } from "../../features/views/view-series.ts";
import charts from "../../shared/components/charts.module.css";
import { Loading } from "../../shared/components/loading.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import table from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { Tile, tiles } from "../../shared/components/tile.tsx";
import { TimeChart } from "../../shared/components/time-chart.tsx";
import { durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { usageQuery } from "./usage-queries.ts";

const text = strings.usage;

/** Minutes that the project has transcoded, delivered and stored, and who watched. */
export function UsagePage() {
  const [range, setRange] = useState<Range>("month");
  const { data: usage, error } = useQuery(usageQuery(range));
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  return (
    <div className={page.page}>
      <header className={page.header}>
        <h1>{text.title}</h1>
        <RangeSelect range={range} onRange={setRange} />
      </header>
      <QueryProblem error={error} />
      {!usage && !error && <Loading lines={6} />}
      {usage && (
        <>
          <dl className={tiles}>
            <Tile name={text.transcoded} value={minutesText(usage.total?.TotalUsageMins)} hint={text.transcodedHint} />
            <Tile name={text.delivered} value={minutesText(usage.total?.DeliveryUsageMins)} hint={text.deliveredHint} />
            <Tile name={text.stored} value={minutesText(usage.total?.StorageUsageMins)} hint={text.storedHint} />
          </dl>
          <Panel title={text.charts}>
            <div className={charts.charts}>
              {(["TotalUsageMins", "DeliveryUsageMins"] as const).map((field) => (
                <TimeChart
                  key={field}
                  title={text.chart(field === "TotalUsageMins" ? text.transcoded : text.delivered, text.steps[range])}
                  series={stepSeries(
                    range,
                    usage.now,
                    usage.steps.map((step) => [step.TimestampMs, step[field]]),
                  )}
                  range={rangeOf(range, usage.now)}
                  format={minutesText}
                />
              ))}
            </div>
          </Panel>
          <Creators creators={usage.creators} />
        </>
      )}
      <AudiencePanel range={range} />
    </div>
  );
}

/** A table by creator. A project without creators has none. */
function Creators({ creators }: { readonly creators: readonly UsageMetric[] }) {
  if (!creators.some(({ CreatorID }) => CreatorID)) return null;
  const rows = creators.map((creator) => ({ ...creator, id: creator.CreatorID ?? "" }));
  const nameOf = ({ id }: { readonly id: string }): string => id || text.noCreator;
  return (
    <section className={page.page} aria-label={text.creators}>
      <h2>{text.creators}</h2>
      <TableOrCards
        items={rows}
        columns={[
          { name: text.creator, cell: nameOf },
          { name: text.transcoded, className: table.number, cell: (row) => minutesText(row.TotalUsageMins) },
          { name: text.delivered, className: table.number, cell: (row) => minutesText(row.DeliveryUsageMins) },
          { name: text.stored, className: table.number, cell: (row) => minutesText(row.StorageUsageMins) },
        ]}
        card={(row) => (
          <>
            <strong>{nameOf(row)}</strong>
            <span className="quiet">
              {text.transcoded} {minutesText(row.TotalUsageMins)} · {text.delivered}{" "}
              {minutesText(row.DeliveryUsageMins)} · {text.stored} {minutesText(row.StorageUsageMins)}
            </span>
          </>
        )}
      />
    </section>
  );
}

const minutesText = (minutes = 0): string => (minutes === 0 ? text.noMinutes : durationText(minutes * 60));
