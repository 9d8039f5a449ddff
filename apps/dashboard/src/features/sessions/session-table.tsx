import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { Session } from "@weir/contract";
import { CopyButton } from "../../components/copy-button.tsx";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
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

/** A table on wide screens, cards on phones. */
export function SessionTable(props: Props) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <SessionCards {...props} /> : <SessionRows {...props} />;
}

function SessionRows({ sessions, withStream, play, onPlay }: Props) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{text.columns.started}</th>
          {withStream && <th scope="col">{text.columns.stream}</th>}
          <th scope="col" className={classes.number}>
            {text.columns.duration}
          </th>
          <th scope="col" className={classes.number}>
            {text.columns.size}
          </th>
          <th scope="col">{text.columns.recording}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {sessions.map((session) => (
          <tr key={session.id}>
            <td>
              <Moment at={session.createdAt} />
            </td>
            {withStream && (
              <td>
                <StreamLink session={session} />
              </td>
            )}
            <td className={classes.number}>{durationText(session.sourceSegmentsDuration)}</td>
            <td className={classes.number}>{bytesText(session.sourceBytes)}</td>
            <td>
              <RecordingState session={session} />
            </td>
            <td>
              <SessionActions session={session} isOpen={play === session.id} onPlay={onPlay} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function SessionCards({ sessions, withStream, play, onPlay }: Props) {
  return (
    <ul className={classes.cards}>
      {sessions.map((session) => (
        <li key={session.id} className={classes.card}>
          {withStream && <StreamLink session={session} />}
          <div className={classes.cardLine}>
            <Moment at={session.createdAt} />
            <span>{durationText(session.sourceSegmentsDuration)}</span>
          </div>
          <div className={classes.cardLine}>
            <RecordingState session={session} />
            <SessionActions session={session} isOpen={play === session.id} onPlay={onPlay} />
          </div>
        </li>
      ))}
    </ul>
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
        <Button size="compact-sm" variant="subtle" component="a" href={session.mp4Url}>
          {text.mp4}
        </Button>
      )}
      <CopyButton value={session.recordingUrl} what={text.copyAddress} />
    </div>
  );
}
