import { Checkbox } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { bitrateText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { StreamState } from "./stream-state.tsx";

const text = strings.streams.columns;

interface Props {
  readonly streams: readonly Stream[];
  /** Ids of the rows that are ticked. */
  readonly picked: ReadonlySet<string>;
  readonly onPick: (picked: ReadonlySet<string>) => void;
}

/** A table on wide screens, cards on phones. */
export function StreamList(props: Props) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <StreamCards {...props} /> : <StreamTable {...props} />;
}

function StreamTable({ streams, picked, onPick }: Props) {
  const count = streams.filter(({ id }) => picked.has(id)).length;
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col" className={classes.tick}>
            <Checkbox
              aria-label={strings.streams.selection.pickAll}
              checked={count === streams.length}
              indeterminate={count > 0 && count < streams.length}
              onChange={(event) => onPick(new Set(event.currentTarget.checked ? streams.map(({ id }) => id) : []))}
            />
          </th>
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
            <td className={classes.tick}>
              <Tick stream={stream} picked={picked} onPick={onPick} />
            </td>
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

function StreamCards({ streams, picked, onPick }: Props) {
  return (
    <ul className={classes.cards}>
      {streams.map((stream) => (
        <li key={stream.id} className={classes.card}>
          <div className={classes.cardHead}>
            <StreamLink stream={stream} />
            <Tick stream={stream} picked={picked} onPick={onPick} />
          </div>
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

function Tick({ stream, picked, onPick }: Omit<Props, "streams"> & { readonly stream: Stream }) {
  const onChange = (ticked: boolean): void => {
    const next = new Set(picked);
    if (ticked) next.add(stream.id);
    else next.delete(stream.id);
    onPick(next);
  };
  return (
    <Checkbox
      aria-label={strings.streams.selection.pick(stream.name)}
      checked={picked.has(stream.id)}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
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
