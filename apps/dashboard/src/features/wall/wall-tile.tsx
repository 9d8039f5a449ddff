import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import table from "../../components/table.module.css";
import { strings } from "../../strings.ts";
import { standingOf } from "../health/health-standing.ts";
import { LiveStill } from "../preview/live-still.tsx";
import { StreamHealthWord } from "../streams/stream-health.tsx";
import { StreamState } from "../streams/stream-state.tsx";
import classes from "./wall-tile.module.css";

interface Props {
  readonly stream: Stream;
  readonly viewers: number;
}

/** One stream on the wall. The whole tile leads to its page. */
export function WallTile({ stream, viewers }: Props) {
  const { status, reason } = standingOf(stream, undefined);
  return (
    <li className={classes.tile} data-health={status}>
      <LiveStill stream={stream} />
      <div className={classes.words}>
        <Link to="/streams/$streamId" params={{ streamId: stream.id }} className={`${table.name} ${classes.link}`}>
          {stream.name}
        </Link>
        <div className={classes.facts}>
          <StreamState stream={stream} />
          <StreamHealthWord stream={stream} />
          <span className="quiet">{strings.health.header.viewers(viewers)}</span>
        </div>
        {status === "unhealthy" && <p className={classes.reason}>{reason}</p>}
      </div>
    </li>
  );
}
