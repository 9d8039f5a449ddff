import type { Stream } from "@weir/contract";
import { strings } from "../../strings.ts";
import { standingOf } from "../health/health-standing.ts";
import { HealthWord } from "../health/health-word.tsx";

/** The health of a stream in one word, with the reason on hover. A list knows open issues alone: a stream without one counts as healthy. */
export function StreamHealthWord({ stream }: { readonly stream: Stream }) {
  const { status, reason } = standingOf(stream, undefined);
  if (status === "idle") return <span className="quiet">{strings.actions.none}</span>;
  const state = status === "unknown" ? "healthy" : status;
  return (
    <span title={status === "unhealthy" ? (reason ?? undefined) : undefined}>
      <HealthWord state={state}>{strings.health.status[state]}</HealthWord>
    </span>
  );
}
