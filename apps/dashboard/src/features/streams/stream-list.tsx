import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { memo } from "react";
import { CopyButton } from "../../shared/components/copy-button.tsx";
import { LastMoment, Moment } from "../../shared/components/moment.tsx";
import { SortHeading, sortedBy } from "../../shared/components/sort-heading.tsx";
import { Sparkline } from "../../shared/components/sparkline.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { type OnTick, Tick, TickAll, type Ticked } from "../../shared/components/ticks.tsx";
import { bitrateText, countText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { LiveStill } from "../preview/live-still.tsx";
import { viewersByIdQuery, viewTrendsQuery } from "../views/view-queries.ts";
import { StreamHealth } from "./stream-health.tsx";
import list from "./stream-list.module.css";
import { StreamRowMenu } from "./stream-row-menu.tsx";
import type { SortField, StreamSort } from "./stream-search.ts";
import { StreamState } from "./stream-state.tsx";

const text = strings.streams.columns;

interface Props {
  readonly streams: readonly Stream[];
  readonly ticked: Ticked;
  readonly onTick: OnTick;
  readonly sort: StreamSort | undefined;
  readonly onSort: (sort: StreamSort) => void;
}

/** Its cells are remembered: of twenty streams, one or two are other than five seconds ago. */
export const StreamList = memo(({ streams, ticked, onTick, sort, onSort }: Props) => {
  const { data: viewers } = useQuery({ ...viewersByIdQuery, enabled: streams.some(({ isActive }) => isActive) });
  const { data: trends } = useQuery(viewTrendsQuery);
  const tick = ({ id, name }: Stream) => <Tick id={id} name={name} ticked={ticked.has(id)} onTick={onTick} />;
  const heading = (field: SortField, name: string) => (
    <SortHeading {...{ field, name, sort, onSort }} isText={field === "name"} />
  );
  const viewersOf = ({ isActive, playbackId }: Stream): string =>
    isActive && viewers ? countText(viewers.get(playbackId) ?? 0) : strings.actions.none;
  return (
    <TableOrCards
      items={streams}
      narrow="64em"
      columns={[
        {
          name: strings.ticks.all,
          heading: <TickAll rows={streams} ticked={ticked} onTick={onTick} />,
          className: classes.tick,
          cell: tick,
        },
        {
          name: text.name,
          heading: heading("name", text.name),
          sorted: sortedBy("name", sort),
          cell: (stream) => <StreamName stream={stream} />,
        },
        { name: text.state, cell: (stream) => <StreamState stream={stream} /> },
        { name: text.health, className: list.health, cell: (stream) => <StreamHealth stream={stream} /> },
        {
          name: text.viewers,
          className: classes.number,
          cell: (stream) => <Viewers now={viewersOf(stream)} trend={trends?.get(stream.playbackId)} />,
        },
        { name: text.ingest, className: classes.number, cell: ingestOf },
        {
          name: text.lastSeen,
          heading: heading("lastSeen", text.lastSeen),
          sorted: sortedBy("lastSeen", sort),
          cell: ({ lastSeen }) => <LastMoment at={lastSeen} />,
        },
        {
          name: text.created,
          heading: heading("createdAt", text.created),
          sorted: sortedBy("createdAt", sort),
          cell: ({ createdAt }) => <Moment at={createdAt} />,
        },
        { name: text.menu, heading: "", cell: (stream) => <StreamRowMenu stream={stream} /> },
      ]}
      card={(stream) => (
        <>
          <div className={classes.cardHead}>
            <StreamName stream={stream} />
            <span className={list.ends}>
              {tick(stream)}
              <StreamRowMenu stream={stream} />
            </span>
          </div>
          <div className={classes.cardLine}>
            <StreamState stream={stream} />
            {stream.isActive ? (
              <>
                <StreamHealth stream={stream} />
                <span className="quiet">
                  {viewers && `${strings.health.header.viewers(viewers.get(stream.playbackId) ?? 0)} · `}
                  {ingestOf(stream)}
                </span>
              </>
            ) : (
              <span className="quiet">
                <LastMoment at={stream.lastSeen} />
              </span>
            )}
          </div>
        </>
      )}
    />
  );
});

interface ViewersProps {
  readonly now: string;
  /** The views in each of the last 24 hours; absent where there were none. */
  readonly trend: readonly number[] | undefined;
}

const Viewers = memo(({ now, trend }: ViewersProps) => (
  <span
    className={list.viewers}
    title={trend && strings.overview.tiles.views(trend.reduce((sum, count) => sum + count, 0))}
  >
    {now}
    {trend && <Sparkline values={trend} />}
  </span>
));

/** A picture of what is live, the name and the playback ID. */
const StreamName = memo(({ stream }: { readonly stream: Stream }) => {
  const { id, name, playbackId } = stream;
  return (
    <div className={classes.thing}>
      <LiveStill stream={stream} width={160} />
      <div className={list.words}>
        <Link to="/streams/$streamId" params={{ streamId: id }} className={classes.name} title={name}>
          {name}
        </Link>
        <span className={list.id}>
          <code>{playbackId}</code>
          <CopyButton value={playbackId} what={`${text.playbackId.toLowerCase()} of ${name}`} />
        </span>
      </div>
    </div>
  );
});

function ingestOf(stream: Stream): string {
  if (stream.status.state !== "live") return strings.actions.none;
  return stream.ingestRate > 0 ? bitrateText(stream.ingestRate) : strings.streams.figures.measuring;
}
