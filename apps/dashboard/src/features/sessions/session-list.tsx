import { NativeSelect } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { NoMatch } from "../../shared/components/no-match.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import type { Ticked } from "../../shared/components/ticks.tsx";
import { strings } from "../../shared/strings.ts";
import { streamChoicesQuery } from "../streams/stream-queries.ts";
import { RecordingSelection } from "./recording-selection.tsx";
import { sessionsQuery } from "./session-queries.ts";
import { SESSION_DATES, type SessionSearch } from "./session-search.ts";
import { hasRecording, SessionTable } from "./session-table.tsx";

const text = strings.sessions;

interface Props {
  readonly search: SessionSearch;
  /** The stream whose page shows the list; such a list has no filter by stream. */
  readonly ofStream?: string;
  readonly onSearch: (search: SessionSearch) => void;
}

/** One page of sessions. Those with a recording can be selected. */
export function SessionList({ search, ofStream, onSearch }: Props) {
  const sessions = useQuery(sessionsQuery({ ...search, ...(ofStream && { streamId: ofStream }) }));
  const [ticked, setTicked] = useState<Ticked>(new Set());
  const { cursor, ...filters } = search;
  if (sessions.error && !sessions.data) return <QueryProblem error={sessions.error} />;
  if (!sessions.data) return <Loading />;
  const { items, nextCursor } = sessions.data;
  const selected = items.filter((session) => ticked.has(session.id) && hasRecording(session));
  const isNarrowed = Object.keys(filters).length > 0;
  return (
    <div className={page.stack}>
      {(items.length > 0 || isNarrowed) && <Filters search={search} withStreams={!ofStream} onSearch={onSearch} />}
      {items.length === 0 && isNarrowed && <NoMatch onClear={() => onSearch({})}>{text.noMatch}</NoMatch>}
      {items.length === 0 && !isNarrowed && (
        <EmptyState
          icon={<IconHistory size={24} />}
          title={text.empty.title}
          body={ofStream ? text.emptyStream : text.empty.body}
        />
      )}
      {items.length > 0 && <SessionTable sessions={items} withStream={!ofStream} ticked={ticked} onTick={setTicked} />}
      <PageLinks
        cursor={cursor}
        nextCursor={nextCursor}
        onCursor={(next) => onSearch(next === undefined ? filters : { ...filters, cursor: next })}
      />
      {selected.length > 0 && <RecordingSelection selected={selected} onClear={() => setTicked(new Set())} />}
    </div>
  );
}

interface FilterProps {
  readonly search: SessionSearch;
  readonly withStreams: boolean;
  readonly onSearch: (search: SessionSearch) => void;
}

function Filters({ search, withStreams, onSearch }: FilterProps) {
  const streamId = search.streamId ?? "";
  const created: string = search.created ?? "";
  const { data: streams = [] } = useQuery({ ...streamChoicesQuery, enabled: withStreams });
  const set = (wanted: { streamId: string; created: string }): void => {
    const date = SESSION_DATES.find((known) => known === wanted.created);
    onSearch({ ...(wanted.streamId && { streamId: wanted.streamId }), ...(date && { created: date }) });
  };
  return (
    <search className={page.filters}>
      {withStreams && (
        <NativeSelect
          aria-label={text.columns.stream}
          value={streamId}
          data={[
            { value: "", label: text.filters.anyStream },
            ...streams.map(({ id, name }) => ({ value: id, label: name })),
            ...(streamId === "" || streams.some(({ id }) => id === streamId)
              ? []
              : [{ value: streamId, label: text.filters.otherStream }]),
          ]}
          onChange={(event) => set({ streamId: event.currentTarget.value, created })}
        />
      )}
      <NativeSelect
        aria-label={text.filters.date}
        value={created}
        data={[
          { value: "", label: strings.streams.filters.created.any },
          ...SESSION_DATES.map((value) => ({ value, label: strings.streams.filters.created[value] })),
        ]}
        onChange={(event) => set({ streamId, created: event.currentTarget.value })}
      />
    </search>
  );
}
