import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { EmptyState } from "../../components/empty-state.tsx";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { RecordingPlayer } from "./recording-player.tsx";
import classes from "./session-list.module.css";
import { sessionsQuery } from "./session-queries.ts";
import { SessionTable } from "./session-table.tsx";

const text = strings.sessions;

export interface SessionSearch {
  readonly cursor?: string;
  readonly play?: string;
}

interface Props {
  /** Sessions of all streams when not given. */
  readonly streamId?: string;
  readonly cursor: string | undefined;
  /** Id of the session whose recording is open. */
  readonly play: string | undefined;
  readonly onSearch: (search: SessionSearch) => void;
}

/** One page of sessions, with the recording that is being looked at above it. */
export function SessionList({ streamId, cursor, play, onSearch }: Props) {
  const sessions = useQuery(sessionsQuery(streamId, cursor));
  const here: SessionSearch = cursor === undefined ? {} : { cursor };
  if (sessions.error && !sessions.data) return <QueryProblem error={sessions.error} />;
  if (!sessions.data) return <p className="quiet">{strings.app.loading}</p>;
  return (
    <div className={classes.list}>
      {play !== undefined && <RecordingPlayer key={play} sessionId={play} onClose={() => onSearch(here)} />}
      {sessions.data.items.length === 0 ? (
        <EmptyState
          icon={<IconHistory size={24} />}
          title={text.empty.title}
          body={streamId === undefined ? text.empty.body : text.emptyStream}
        />
      ) : (
        <SessionTable
          sessions={sessions.data.items}
          withStream={streamId === undefined}
          play={play}
          onPlay={(id) => onSearch({ ...here, play: id })}
        />
      )}
      <PageLinks
        cursor={cursor}
        nextCursor={sessions.data.nextCursor}
        onCursor={(next) => onSearch(next === undefined ? {} : { cursor: next })}
      />
    </div>
  );
}
