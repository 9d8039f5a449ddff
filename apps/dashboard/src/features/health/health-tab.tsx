import { useQuery } from "@tanstack/react-query";
import type { HealthCondition, Stream } from "@weir/contract";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { absoluteMoment, clockMoment } from "../../shared/lib/moments.ts";
import { shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { HealthIssues } from "./health-issues.tsx";
import { healthQuery } from "./health-queries.ts";
import { type HealthCheck, standingOf } from "./health-standing.ts";
import classes from "./health-tab.module.css";
import { HealthWord } from "./health-word.tsx";
import { LiveCharts } from "./live-charts.tsx";

const text = strings.health;

/** The health of a stream: the checks, the open issues and what to change. */
export function HealthTab({ stream }: { readonly stream: Stream }) {
  const health = useQuery(healthQuery(stream.id));
  const { status, reason, checks } = standingOf(stream, health.data);
  return (
    <div className={page.stack}>
      <QueryProblem error={health.error} />
      <div className={`${page.columns} ${classes.columns}`}>
        <Panel title={text.checks.title}>
          <p className={classes.summary}>
            <HealthWord state={status}>{text.status[status]}</HealthWord>
            <span>{status === "unhealthy" ? reason : text.summary[status]}</span>
          </p>
          {status === "idle" && health.data?.healthy.status != null && <p className="quiet">{text.lastSession}</p>}
          <ul>
            {checks.map((check) => (
              <Check key={check.area} check={check} isPast={status === "idle"} />
            ))}
          </ul>
        </Panel>
        <HealthIssues stream={stream} />
      </div>
      <LiveCharts stream={stream} />
    </div>
  );
}

interface CheckProps {
  readonly check: HealthCheck;
  readonly isPast: boolean;
}

function Check({ check: { area, state, sentence, condition }, isPast }: CheckProps) {
  return (
    <li className={classes.check}>
      <strong>{text.checks[area].name}</strong>
      <HealthWord state={state} isPast={isPast}>
        {text.states[state]}
      </HealthWord>
      <p>{sentence}</p>
      {condition?.frequency && <History frequency={condition.frequency} changedAt={condition.lastTransitionTime} />}
    </li>
  );
}

interface HistoryProps {
  readonly frequency: NonNullable<HealthCondition["frequency"]>;
  /** Milliseconds since the epoch; null before the first reading. */
  readonly changedAt: number | null;
}

/** The share of good readings over three windows, and the time of the last change. */
function History({ frequency, changedAt }: HistoryProps) {
  return (
    <p className={classes.history} title={text.good.title}>
      <span>{text.good.label}</span>
      {(["1m", "10m", "60m"] as const).map((window) => (
        <span key={window}>
          {text.good[window]} {shareText(frequency[window])}
        </span>
      ))}
      {changedAt !== null && (
        <span title={absoluteMoment(changedAt)}>{text.changed(clockMoment(changedAt, Date.now()))}</span>
      )}
    </p>
  );
}
