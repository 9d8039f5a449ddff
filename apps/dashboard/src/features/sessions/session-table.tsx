import { Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { Moment } from "../../shared/components/moment.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { type OnTick, Tick, TickAll, type Ticked } from "../../shared/components/ticks.tsx";
import { absoluteMoment } from "../../shared/lib/moments.ts";
import { bytesText, durationText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { DownloadButton } from "./download-button.tsx";
import { RecordingState } from "./recording-state.tsx";
import list from "./session-list.module.css";
import { SessionThumbnail } from "./session-thumbnail.tsx";

const text = strings.sessions;

interface Props {
  readonly sessions: readonly Session[];
  readonly withStream: boolean;
  readonly ticked: Ticked;
  readonly onTick: OnTick;
}

/** Only the recording of a session that has ended can be deleted. */
export function hasRecording({ isActive, recordingStatus }: Session): boolean {
  return !isActive && (recordingStatus === "ready" || recordingStatus === "failed");
}

export function SessionTable({ sessions, withStream, ticked, onTick }: Props) {
  const tick = (session: Session) => (
    <Tick
      id={session.id}
      name={`${session.name}, ${absoluteMoment(session.createdAt)}`}
      ticked={hasRecording(session) && ticked.has(session.id)}
      disabled={hasRecording(session) ? undefined : session.isActive ? text.notYet : text.nothing}
      onTick={onTick}
    />
  );
  const stream = { name: text.columns.stream, cell: (session: Session) => <StreamLink session={session} /> };
  return (
    <TableOrCards
      items={sessions}
      columns={[
        {
          name: strings.ticks.all,
          heading: <TickAll rows={sessions.filter(hasRecording)} ticked={ticked} onTick={onTick} />,
          className: classes.tick,
          cell: tick,
        },
        { name: text.columns.started, cell: (session) => <SessionLink session={session} /> },
        ...(withStream ? [stream] : []),
        {
          name: text.columns.duration,
          className: classes.number,
          cell: ({ sourceSegmentsDuration }) => durationText(sourceSegmentsDuration),
        },
        { name: text.columns.size, className: classes.number, cell: ({ sourceBytes }) => bytesText(sourceBytes) },
        { name: text.columns.recording, cell: (session) => <RecordingState session={session} /> },
        { name: "", cell: (session) => <Download session={session} /> },
      ]}
      card={(session) => (
        <>
          <div className={classes.cardHead}>
            <SessionLink session={session} />
            {tick(session)}
          </div>
          <div className={classes.cardLine}>
            {withStream && <StreamLink session={session} />}
            <span>{durationText(session.sourceSegmentsDuration)}</span>
          </div>
          <div className={classes.cardLine}>
            <RecordingState session={session} />
            <Download session={session} />
          </div>
        </>
      )}
    />
  );
}

interface RowProps {
  readonly session: Session;
}

function SessionLink({ session }: RowProps) {
  return (
    <span className={classes.thing}>
      <SessionThumbnail session={session} />
      <Link to="/sessions/$sessionId" params={{ sessionId: session.id }} className={classes.name}>
        <Moment at={session.createdAt} />
      </Link>
    </span>
  );
}

function StreamLink({ session }: RowProps) {
  return (
    <Link to="/streams/$streamId" params={{ streamId: session.parentId }} className={list.stream}>
      {session.name}
    </Link>
  );
}

function Download({ session: { mp4Url, playbackPolicy } }: RowProps) {
  if (mp4Url === undefined) return null;
  return (
    <div className={list.actions}>
      <DownloadButton mp4Url={mp4Url} policy={playbackPolicy} size="compact-sm" label={text.mp4} />
    </div>
  );
}
