import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { LiveStill } from "../../features/preview/live-still.tsx";
import { RecordingState } from "../../features/sessions/recording-state.tsx";
import { sessionsQuery } from "../../features/sessions/session-queries.ts";
import { SessionThumbnail } from "../../features/sessions/session-thumbnail.tsx";
import { StreamHealthWord, UnhealthyReason } from "../../features/streams/stream-health.tsx";
import { streamsQuery } from "../../features/streams/stream-queries.ts";
import { StreamState } from "../../features/streams/stream-state.tsx";
import { viewersByIdQuery } from "../../features/views/view-queries.ts";
import { Loading } from "../../shared/components/loading.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import table from "../../shared/components/table.module.css";
import { bitrateText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import classes from "./recent-panels.module.css";

const text = strings.overview;
const MAX_SESSIONS = 8;

/** The streams that are live, with their viewers. */
export function LiveStreams() {
  const streams = useQuery(streamsQuery({ state: "active" }));
  const viewers = useQuery(viewersByIdQuery);
  return (
    <Panel title={text.live.title}>
      <QueryProblem error={streams.error} />
      {!streams.data && !streams.error && <Loading lines={3} />}
      {streams.data?.items.length === 0 && <p className="quiet">{text.live.none}</p>}
      <ul>
        {streams.data?.items.map((stream) => (
          <li key={stream.id} className={classes.row}>
            <LiveStill stream={stream} width={160} />
            <div className={classes.words}>
              <Link to="/streams/$streamId" params={{ streamId: stream.id }} className={table.name}>
                {stream.name}
              </Link>
              <span className="quiet">
                {strings.health.header.viewers(viewers.data?.get(stream.playbackId) ?? 0)}
                {stream.ingestRate > 0 && ` · ${bitrateText(stream.ingestRate)}`}
              </span>
            </div>
            <div className={classes.state}>
              <StreamState stream={stream} />
              <StreamHealthWord stream={stream} />
            </div>
            <UnhealthyReason stream={stream} />
          </li>
        ))}
      </ul>
      {streams.data && streams.data.items.length > 1 && <Link to="/streams/wall">{text.live.all}</Link>}
    </Panel>
  );
}

/** A session that is on the air has no recording to show yet: it shows its stream. */
function SessionPicture({ session }: { readonly session: Session }) {
  const { data } = useQuery({ ...streamsQuery({ state: "active" }), enabled: session.isActive });
  const stream = session.isActive && data?.items.find(({ id }) => id === session.parentId);
  return stream ? <LiveStill stream={stream} width={160} /> : <SessionThumbnail session={session} />;
}

/** The newest sessions of all streams. */
export function RecentSessions() {
  const sessions = useQuery(sessionsQuery({ limit: MAX_SESSIONS }));
  return (
    <Panel title={text.sessions.title}>
      <QueryProblem error={sessions.error} />
      {!sessions.data && !sessions.error && <Loading lines={3} />}
      {sessions.data?.items.length === 0 && <p className="quiet">{strings.sessions.empty.body}</p>}
      <ul>
        {sessions.data?.items.map((session) => (
          <li key={session.id} className={classes.row}>
            <SessionPicture session={session} />
            <div className={classes.words}>
              <Link to="/sessions/$sessionId" params={{ sessionId: session.id }} className={table.name}>
                {session.name}
              </Link>
              <span className="quiet">
                <Moment at={session.createdAt} /> · {durationText(session.sourceSegmentsDuration)}
              </span>
            </div>
            <div className={classes.state}>
              <RecordingState session={session} />
            </div>
          </li>
        ))}
      </ul>
      {sessions.data?.nextCursor && <Link to="/sessions">{text.sessions.all}</Link>}
    </Panel>
  );
}
