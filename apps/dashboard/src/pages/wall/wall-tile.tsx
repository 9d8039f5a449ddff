import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { memo } from "react";
import { standingOf } from "../../features/health/health-standing.ts";
import { LiveStill } from "../../features/preview/live-still.tsx";
import { StreamHealthWord } from "../../features/streams/stream-health.tsx";
import { StreamState } from "../../features/streams/stream-state.tsx";
import covering from "../../shared/components/covering-link.module.css";
import table from "../../shared/components/table.module.css";
import { strings } from "../../shared/strings.ts";
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
      <LiveStill stream={stream} width={320} />
      <div className={classes.words}>
        <TileLink id={stream.id} name={stream.name} />
        <div className={classes.facts}>
          <StreamState stream={stream} />
          <StreamHealthWord stream={stream} />
          <span className="quiet">{strings.health.header.viewers(viewers)}</span>
        </div>
        <p className={classes.reason} title={reason ?? undefined}>
          {status === "unhealthy" && reason}
        </p>
      </div>
    </li>
  );
}

/** Most of a tile's cost, and it changes with the name alone. */
const TileLink = memo(({ id, name }: Pick<Stream, "id" | "name">) => (
  <Link to="/streams/$streamId" params={{ streamId: id }} className={`${table.name} ${covering.link}`}>
    {name}
  </Link>
));
