import { useQuery } from "@tanstack/react-query";
import type { Session } from "@weir/contract";
import { Loading } from "../../shared/components/loading.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import { linesOf } from "../events/event-filter.ts";
import { eventSampleQuery } from "../events/event-queries.tsx";
import { EventRow } from "../events/event-row.tsx";
import { HealthCharts } from "../health/health-charts.tsx";
import { highestOf, seriesOf } from "../health/health-series.ts";
import classes from "./session-history.module.css";

const text = strings.sessions;
/** Events about the end, such as the recording's, come after it. */
const AFTER_MS = 60_000;

/** The events of a session, from its start to its end. */
export function useSessionEvents({ parentId, createdAt, endedAt, lastSeen, isActive }: Session) {
  const end = endedAt ?? lastSeen;
  return useQuery({
    ...eventSampleQuery(parentId, createdAt, end + AFTER_MS),
    // Each refresh reads all events again, so a longer session is refreshed less often.
    refetchInterval: isActive ? Math.max(10_000, (end - createdAt) / 100) : false,
  });
}

type SessionEvents = ReturnType<typeof useSessionEvents>;

/** The most viewers at once; null until it is known. */
export function peakOf({ data }: SessionEvents, { createdAt }: Session): number | null {
  return data ? highestOf(seriesOf(data.events, createdAt).viewers) : null;
}

interface Props {
  readonly session: Session;
  readonly range: SessionEvents;
}

/** The charts and events of a session. */
export function SessionHistory({ session, range }: Props) {
  if (!range.data) return range.error ? <QueryProblem error={range.error} /> : <Loading />;
  const lines = linesOf(range.data.events, "notable", "");
  return (
    <>
      <PanelBoundary>
        <SessionCharts session={session} sample={range.data} />
      </PanelBoundary>
      <Panel title={strings.events.title}>
        {lines.length === 0 ? (
          <p className="quiet">{text.noEvents}</p>
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

interface ChartsProps {
  readonly session: Session;
  readonly sample: NonNullable<SessionEvents["data"]>;
}

function SessionCharts({ session, sample: { events, intervalMs } }: ChartsProps) {
  const from = session.createdAt;
  const end = session.endedAt ?? session.lastSeen;
  const isMeasured = seriesOf(events, from).ingestRate.values.length > 0;
  if (!isMeasured && !session.isActive)
    return (
      <Panel title={text.charts}>
        <p className="quiet">{text.tooShort}</p>
      </Panel>
    );
  return (
    <HealthCharts
      title={text.charts}
      events={events}
      intervalMs={intervalMs}
      range={{ from, to: Math.max(end, from + 1000) }}
      isTranscoded={session.profiles.length > 0}
    />
  );
}
