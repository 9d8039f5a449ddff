import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { memo } from "react";
import { strings } from "../../shared/strings.ts";
import { standingOf } from "../health/health-standing.ts";
import { HealthWord } from "../health/health-word.tsx";
import classes from "./stream-health.module.css";

interface Props {
  readonly stream: Stream;
}

/** The health of a stream in one word, with the reason on hover. A list knows open issues alone: a stream without one counts as healthy. */
export function StreamHealthWord({ stream }: Props) {
  const { status, reason } = standingOf(stream, undefined);
  if (status === "idle") return <span className="quiet">{strings.actions.none}</span>;
  return (
    <span title={status === "unhealthy" ? (reason ?? undefined) : undefined}>
      <HealthWord state={status}>{strings.health.status[status]}</HealthWord>
    </span>
  );
}

/** The word, and for an unhealthy stream the reason, which leads to the page that says what to do. */
export const StreamHealth = memo(({ stream }: Props) => {
  const { status } = standingOf(stream, undefined);
  return (
    <div className={classes.health} data-health={status}>
      <StreamHealthWord stream={stream} />
      <UnhealthyReason stream={stream} />
    </div>
  );
});

/** Why a stream is unhealthy; nothing for any other. */
export function UnhealthyReason({ stream }: Props) {
  const { status, reason } = standingOf(stream, undefined);
  if (status !== "unhealthy") return null;
  return (
    <Link
      to="/streams/$streamId"
      params={{ streamId: stream.id }}
      search={{ tab: "health" }}
      className={classes.reason}
    >
      {reason}
    </Link>
  );
}
