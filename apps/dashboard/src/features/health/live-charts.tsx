import type { Stream } from "@weir/contract";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { useNow } from "../../shared/lib/now.ts";
import { strings } from "../../shared/strings.ts";
import { useStreamEvents } from "../events/event-queries.tsx";
import { ConnectionLinks } from "./connection-links.tsx";
import classes from "./health-charts.module.css";
import { HealthCharts } from "./health-charts.tsx";

const text = strings.health.charts;
const WINDOW_MS = 30 * 60_000;
/** Measures come every 10 s. */
const FRESH_MS = 15_000;

/** The last 30 minutes of a stream, or of its last broadcast. */
export function LiveCharts({ stream }: { readonly stream: Stream }) {
  const { events } = useStreamEvents();
  const now = useNow(5000);
  const to = stream.isActive || stream.lastSeen === 0 ? now : stream.lastSeen;
  return (
    <HealthCharts
      title={stream.isActive || stream.lastSeen === 0 ? text.title : text.lastTitle}
      events={events}
      range={{ from: to - WINDOW_MS, to }}
      isTranscoded={stream.profiles.length > 0}
      {...(stream.isActive && { freshMs: FRESH_MS })}
    >
      <Renditions stream={stream} />
      {stream.isActive && <ConnectionLinks events={events} />}
    </HealthCharts>
  );
}

function Renditions({ stream: { status } }: { readonly stream: Stream }) {
  const { renditions = [] } = status;
  if (renditions.length === 0) return null;
  return (
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
  );
}
