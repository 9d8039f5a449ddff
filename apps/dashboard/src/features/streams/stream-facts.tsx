import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import page from "../../shared/components/page.module.css";
import { bitrateText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { healthQuery } from "../health/health-queries.ts";
import { standingOf } from "../health/health-standing.ts";
import { HealthWord } from "../health/health-word.tsx";
import { viewersNowQuery } from "../views/view-queries.ts";
import { StreamClock } from "./stream-clock.tsx";
import classes from "./stream-facts.module.css";

const text = strings.health;

/** A stream in one line: state, viewers, ingest rate, and its health with the reason. */
export function StreamFacts({ stream }: { readonly stream: Stream }) {
  const health = useQuery(healthQuery(stream.id));
  const viewers = useQuery({ ...viewersNowQuery(stream.playbackId), enabled: stream.isActive });
  const { status, reason } = standingOf(stream, health.data);
  return (
    <div className={page.facts}>
      <StreamClock stream={stream} />
      {stream.isActive && (
        <>
          {viewers.data !== undefined && <span>{text.header.viewers(viewers.data)}</span>}
          {stream.status.state === "live" && stream.ingestRate > 0 && <span>{bitrateText(stream.ingestRate)}</span>}
          <Link
            to="/streams/$streamId"
            params={{ streamId: stream.id }}
            search={{ tab: "health" }}
            resetScroll={false}
            className={classes.health}
          >
            <HealthWord state={status}>{text.status[status]}</HealthWord>
            {reason}
          </Link>
        </>
      )}
    </div>
  );
}
