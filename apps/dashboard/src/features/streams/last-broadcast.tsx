import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Session, Stream } from "@weir/contract";
import { useState } from "react";
import { type Figure, Figures } from "../../components/figures.tsx";
import { Loading } from "../../components/loading.tsx";
import { LastMoment, Moment } from "../../components/moment.tsx";
import page from "../../components/page.module.css";
import { Panel } from "../../components/panel.tsx";
import { PanelBoundary } from "../../components/panel-boundary.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { bytesText, countText, durationText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { linesOf } from "../events/event-filter.ts";
import { useStreamEvents } from "../events/event-queries.tsx";
import { EventRow } from "../events/event-row.tsx";
import { highestOf, seriesOf } from "../health/health-series.ts";
import { Thumbnail, thumbnailOf } from "../preview/thumbnail.tsx";
import { playbackIdOf, RecordingState, RecordingVideo, sessionsQuery } from "../sessions/index.ts";
import classes from "./last-broadcast.module.css";
import { TestBroadcastButton } from "./test-broadcast-button.tsx";

const text = strings.streams.last;
const MAX_LINES = 5;

/** Stands in the player's place while the stream is idle: its last broadcast, with the recording. */
export function LastBroadcast({ stream }: { readonly stream: Stream }) {
  const sessions = useQuery(sessionsQuery({ streamId: stream.id, limit: 1 }));
  const [session] = sessions.data?.items ?? [];
  if (!sessions.data) return sessions.error ? <QueryProblem error={sessions.error} /> : <Loading />;
  return (
    <div className={page.columns}>
      <Panel title={text.title}>
        {session && (
          <>
            <Recording key={session.id} session={session} />
            <SessionFigures session={session} />
          </>
        )}
        <div className={page.actions}>
          {session && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/sessions/$sessionId" params={{ sessionId: session.id }} {...props} />}
            >
              {text.open}
            </Button>
          )}
          {!stream.suspended && <TestBroadcastButton stream={stream} variant="default" />}
        </div>
      </Panel>
      <RecentEvents streamId={stream.id} />
    </div>
  );
}

function Recording({ session }: { readonly session: Session }) {
  const [isOpen, setOpen] = useState(false);
  if (session.recordingUrl === undefined) return null;
  if (isOpen) {
    return (
      <PanelBoundary>
        <RecordingVideo url={session.recordingUrl} label={text.title} />
      </PanelBoundary>
    );
  }
  const playbackId = playbackIdOf(session.recordingUrl);
  return (
    <button type="button" className={classes.poster} onClick={() => setOpen(true)}>
      <Thumbnail path={thumbnailOf(playbackId, 640)} playbackId={playbackId}>
        {null}
      </Thumbnail>
      <span className={classes.play}>
        <IconPlayerPlay size={24} aria-hidden />
        {text.play}
      </span>
    </button>
  );
}

function SessionFigures({ session }: { readonly session: Session }) {
  const { events } = useStreamEvents();
  const viewers = highestOf(seriesOf(events, session.createdAt).viewers);
  const columns = strings.sessions.columns;
  const figures: Figure[] = [
    { name: columns.started, value: <Moment at={session.createdAt} /> },
    { name: text.ended, value: <LastMoment at={session.endedAt ?? session.lastSeen} /> },
    { name: columns.duration, value: durationText(session.sourceSegmentsDuration) },
    { name: columns.size, value: bytesText(session.sourceBytes) },
    { name: columns.recording, value: <RecordingState session={session} /> },
  ];
  if (viewers !== null) figures.push({ name: text.peak, hint: text.peakHint, value: countText(viewers) });
  return <Figures figures={figures} />;
}

function RecentEvents({ streamId }: { readonly streamId: string }) {
  const { events } = useStreamEvents();
  const lines = linesOf(events, "notable", "").slice(0, MAX_LINES);
  return (
    <Panel title={text.recent}>
      {lines.length === 0 && <p className="quiet">{text.none}</p>}
      <div>
        {lines.map((line) => (
          <EventRow key={line.event.id} {...line} />
        ))}
      </div>
      <p>
        <Link to="/streams/$streamId" params={{ streamId }} search={{ tab: "events" }}>
          {text.more}
        </Link>
      </p>
    </Panel>
  );
}
