import { Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { TableOrCards } from "../../components/table-or-cards.tsx";
import { reachableAddress } from "../../lib/local-addresses.ts";
import { bytesText, durationText } from "../../lib/quantities.ts";
import { strings } from "../../strings.ts";
import { RecordingState } from "./recording-state.tsx";
import list from "./session-list.module.css";

const text = strings.sessions;

interface Props {
  readonly sessions: readonly Session[];
  readonly withStream: boolean;
  readonly play: string | undefined;
  readonly onPlay: (id: string) => void;
}

export function SessionTable({ sessions, withStream, play, onPlay }: Props) {
  const actions = (session: Session) => (
    <SessionActions session={session} isOpen={play === session.id} onPlay={onPlay} />
  );
  const stream = { name: text.columns.stream, cell: (session: Session) => <StreamLink session={session} /> };
  return (
    <TableOrCards
      items={sessions}
      columns={[
        { name: text.columns.started, cell: ({ createdAt }) => <Moment at={createdAt} /> },
        ...(withStream ? [stream] : []),
        {
          name: text.columns.duration,
          className: classes.number,
          cell: ({ sourceSegmentsDuration }) => durationText(sourceSegmentsDuration),
        },
        { name: text.columns.size, className: classes.number, cell: ({ sourceBytes }) => bytesText(sourceBytes) },
        { name: text.columns.recording, cell: (session) => <RecordingState session={session} /> },
        { name: "", cell: actions },
      ]}
      card={(session) => (
        <>
          {withStream && <StreamLink session={session} />}
          <div className={classes.cardLine}>
            <Moment at={session.createdAt} />
            <span>{durationText(session.sourceSegmentsDuration)}</span>
          </div>
          <div className={classes.cardLine}>
            <RecordingState session={session} />
            {actions(session)}
          </div>
        </>
      )}
    />
  );
}

function StreamLink({ session }: { readonly session: Session }) {
  return (
    <Link to="/streams/$streamId" params={{ streamId: session.parentId }} className={classes.name}>
      {session.name}
    </Link>
  );
}

interface ActionProps {
  readonly session: Session;
  readonly isOpen: boolean;
  readonly onPlay: (id: string) => void;
}

function SessionActions({ session, isOpen, onPlay }: ActionProps) {
  if (session.recordingUrl === undefined) return null;
  return (
    <div className={list.actions}>
      <Button
        size="compact-sm"
        variant="default"
        disabled={isOpen}
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        onClick={() => onPlay(session.id)}
      >
        {text.play}
      </Button>
      {session.mp4Url && (
        <Button
          size="compact-sm"
          variant="subtle"
          component="a"
          href={reachableAddress(session.mp4Url, window.location)}
        >
          {text.mp4}
        </Button>
      )}
      <CopyButton value={reachableAddress(session.recordingUrl, window.location)} what={text.copyAddress} />
    </div>
  );
}
