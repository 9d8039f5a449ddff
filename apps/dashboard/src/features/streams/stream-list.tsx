import { Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { LastMoment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { TableOrCards } from "../../components/table-or-cards.tsx";
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

export function StreamList({ streams, picked, onPick }: Props) {
  const count = streams.filter(({ id }) => picked.has(id)).length;
  const tick = (stream: Stream) => <Tick stream={stream} picked={picked} onPick={onPick} />;
  return (
    <TableOrCards
      items={streams}
      columns={[
        {
          name: strings.streams.selection.pickAll,
          heading: (
            <Checkbox
              aria-label={strings.streams.selection.pickAll}
              checked={count === streams.length}
              indeterminate={count > 0 && count < streams.length}
              onChange={(event) => onPick(new Set(event.currentTarget.checked ? streams.map(({ id }) => id) : []))}
            />
          ),
          className: classes.tick,
          cell: tick,
        },
        { name: text.name, cell: (stream) => <StreamLink stream={stream} /> },
        { name: text.state, cell: (stream) => <StreamState stream={stream} /> },
        { name: text.lastSeen, cell: ({ lastSeen }) => <LastMoment at={lastSeen} /> },
        { name: text.ingest, className: classes.number, cell: ingestOf },
        {
          name: text.record,
          className: "quiet",
          cell: ({ record }) => (record ? strings.actions.on : strings.actions.off),
        },
      ]}
      card={(stream) => (
        <>
          <div className={classes.cardHead}>
            <StreamLink stream={stream} />
            {tick(stream)}
          </div>
          <div className={classes.cardLine}>
            <StreamState stream={stream} />
            <span className="quiet">
              {stream.status.state === "live" ? ingestOf(stream) : <LastMoment at={stream.lastSeen} />}
            </span>
          </div>
        </>
      )}
    />
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

function ingestOf(stream: Stream): string {
  return stream.status.state === "live" ? bitrateText(stream.ingestRate) : strings.actions.none;
}
