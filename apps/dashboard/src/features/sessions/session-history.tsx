import { useQuery } from "@tanstack/react-query";
import type { Session } from "@weir/contract";
import { Figures } from "../../components/figures.tsx";
import { Loading } from "../../components/loading.tsx";
import { Panel } from "../../components/panel.tsx";
import { PanelBoundary } from "../../components/panel-boundary.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { countText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { linesOf } from "../events/event-filter.ts";
import { eventSampleQuery } from "../events/event-queries.tsx";
import { EventRow } from "../events/event-row.tsx";
import { HealthCharts } from "../health/health-charts.tsx";
import { highestOf, seriesOf } from "../health/health-series.ts";
import classes from "./session-page.module.css";

const text = strings.sessions;
/** Events about the end, such as the recording's, come after it. */
const AFTER_MS = 60_000;

/** The charts and events of a session, from its start to its end. */
export function SessionHistory({ session }: { readonly session: Session }) {
  const from = session.createdAt;
  const end = session.endedAt ?? session.lastSeen;
  const range = useQuery({
    ...eventSampleQuery(session.parentId, from, end + AFTER_MS),
    // Each refresh reads all events again, so a longer session is refreshed less often.
    refetchInterval: session.isActive ? Math.max(10_000, (end - from) / 100) : false,
  });
  if (!range.data) return range.error ? <QueryProblem error={range.error} /> : <Loading />;
  const { events, intervalMs } = range.data;
  const lines = linesOf(events, "notable", "");
  const peak = highestOf(seriesOf(events, from).viewers);
  return (
    <>
      <PanelBoundary>
        <HealthCharts
          title={text.charts}
          events={events}
          intervalMs={intervalMs}
          range={{ from, to: Math.max(end, from + 1000) }}
          isTranscoded={session.profiles.length > 0}
        >
          {peak !== null && <Figures figures={[{ name: strings.streams.last.peak, value: countText(peak) }]} />}
        </HealthCharts>
      </PanelBoundary>
      <Panel title={strings.events.title}>
        {lines.length === 0 ? (
          <p className="quiet">{strings.events.none}</p>
        ) : (
          <div className={classes.log}>
            {lines.map((line) => (
              <EventRow key={line.event.id} {...line} />
            ))}
          </div>
        )}
      </Panel>
    </>
  );
}
