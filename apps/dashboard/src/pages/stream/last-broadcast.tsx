import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Session, Stream } from "@weir/contract";
import { useState } from "react";
import { linesOf } from "../../features/events/event-filter.ts";
import { useStreamEvents } from "../../features/events/event-queries.tsx";
import { EventRow } from "../../features/events/event-row.tsx";
import { highestOf, seriesOf } from "../../features/health/health-series.ts";
import { Thumbnail, thumbnailOf } from "../../features/preview/thumbnail.tsx";
import { playbackIdOf } from "../../features/sessions/recording-address.ts";
import { RecordingVideo } from "../../features/sessions/recording-video.tsx";
import { SessionFigures } from "../../features/sessions/session-figures.tsx";
import { sessionsQuery } from "../../features/sessions/session-queries.ts";
import { TestBroadcastButton } from "../../features/streams/test-broadcast-button.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import page from "../../shared/components/page.module.css";
import { Panel } from "../../shared/components/panel.tsx";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./last-broadcast.module.css";

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
            <Recording key={session.id} session={session} policy={stream.playbackPolicy} />
            <LastFigures session={session} />
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

interface RecordingProps {
  readonly session: Session;
  readonly policy: Stream["playbackPolicy"];
}

function Recording({ session, policy }: RecordingProps) {
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
      <Thumbnail path={thumbnailOf(playbackId, 640)} playbackId={playbackId} policy={policy}>
        {null}
      </Thumbnail>
      <span className={classes.play}>
        <IconPlayerPlay size={24} aria-hidden />
        {text.play}
      </span>
    </button>
  );
}

/** The page has the events of the last half hour alone. */
function LastFigures({ session }: { readonly session: Session }) {
  const { events } = useStreamEvents();
  const peak = highestOf(seriesOf(events, session.createdAt).viewers);
  return <SessionFigures session={session} peak={peak} peakHint={text.peakHint} />;
}

function RecentEvents({ streamId }: { readonly streamId: string }) {
  const { events } = useStreamEvents();
  const lines = linesOf(events, "notable", "").slice(0, MAX_LINES);
  return (
    <Panel title={text.recent}>
      {lines.length === 0 && <p className="quiet">{text.none}</p>}
      <div>
        {lines.map((line) => (
          <EventRow key={line.first.id} {...line} />
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
