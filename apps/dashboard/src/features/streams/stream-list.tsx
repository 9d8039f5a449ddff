import { useMediaQuery } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { bitrateText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { StreamState } from "./stream-state.tsx";

const text = strings.streams.columns;

/** A table on wide screens, cards on phones. */
export function StreamList({ streams }: { readonly streams: readonly Stream[] }) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <StreamCards streams={streams} /> : <StreamTable streams={streams} />;
}

function StreamTable({ streams }: { readonly streams: readonly Stream[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{text.name}</th>
          <th scope="col">{text.state}</th>
          <th scope="col">{text.lastSeen}</th>
          <th scope="col" className={classes.number}>
            {text.ingest}
          </th>
          <th scope="col">{text.record}</th>
        </tr>
      </thead>
      <tbody>
        {streams.map((stream) => (
          <tr key={stream.id}>
            <td>
              <StreamLink stream={stream} />
            </td>
            <td>
              <StreamState stream={stream} />
            </td>
            <td>
              <LastSeen stream={stream} />
            </td>
            <td className={classes.number}>{ingestOf(stream)}</td>
            <td className="quiet">{stream.record ? strings.actions.on : strings.actions.off}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function StreamCards({ streams }: { readonly streams: readonly Stream[] }) {
  return (
    <ul className={classes.cards}>
      {streams.map((stream) => (
        <li key={stream.id} className={classes.card}>
          <StreamLink stream={stream} />
          <div className={classes.cardLine}>
            <StreamState stream={stream} />
            <span className="quiet">
              {stream.status.state === "live" ? ingestOf(stream) : <LastSeen stream={stream} />}
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}

function StreamLink({ stream }: { readonly stream: Stream }) {
  return (
    <Link to="/streams/$streamId" params={{ streamId: stream.id }} className={classes.name}>
      {stream.name}
    </Link>
  );
}

function LastSeen({ stream }: { readonly stream: Stream }) {
  return stream.lastSeen === 0 ? (
    <span className="quiet">{strings.actions.never}</span>
  ) : (
    <Moment at={stream.lastSeen} />
  );
}

function ingestOf(stream: Stream): string {
  return stream.status.state === "live" ? bitrateText(stream.ingestRate) : strings.actions.none;
}
