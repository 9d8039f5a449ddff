import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconLayoutGrid, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useCallback, useDeferredValue, useState } from "react";
import { StreamFilters } from "../../features/streams/stream-filters.tsx";
import { StreamList } from "../../features/streams/stream-list.tsx";
import { streamsQuery } from "../../features/streams/stream-queries.ts";
import { isNarrowed, type StreamSort, streamSearch } from "../../features/streams/stream-search.ts";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { NoMatch } from "../../shared/components/no-match.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import type { Ticked } from "../../shared/components/ticks.tsx";
import { lazyPage } from "../../shared/lib/lazy-page.ts";
import { strings } from "../../shared/strings.ts";
import { StreamCounts } from "./stream-counts.tsx";

// Dialogs and forms are large, and the list shows none at first.
const FirstStream = lazyPage(() => import("../../features/streams/first-stream.tsx"), "FirstStream");
const CreateStreamDialog = lazyPage(
  () => import("../../features/streams/create-stream-dialog.tsx"),
  "CreateStreamDialog",
);
const StreamSelection = lazyPage(() => import("../../features/streams/stream-selection.tsx"), "StreamSelection");

const text = strings.streams;
const route = getRouteApi("/app/streams");

export function StreamsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const streams = useQuery(streamsQuery(search));
  const [ticked, setTicked] = useState<Ticked>(new Set());
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  const sortBy = useCallback(
    (sort: StreamSort) =>
      void navigate({ search: ({ cursor: _, ...rest }) => streamSearch({ ...rest, sort }), replace: true }),
    [navigate],
  );

  // Rendered in small steps, so that the page answers meanwhile.
  const found = useDeferredValue(streams.data);
  // Only what is in sight can be selected: a row that leaves the page leaves the selection.
  const selected = found?.items.filter(({ id }) => ticked.has(id)) ?? [];
  const isWholeList = !isNarrowed(search) && search.cursor === undefined;
  // A project without streams sees another page, so the list waits for the server's answer.
  if (isWholeList && found === undefined && streams.error === null) return <Loading lines={6} />;
  if (isWholeList && streams.data?.items.length === 0 && !streams.isPlaceholderData) return <FirstStream />;
  return (
    <div className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <h1>{text.title}</h1>
          <StreamCounts />
        </div>
        <div className={page.actions}>
          <Button
            variant="default"
            leftSection={<IconLayoutGrid size={16} aria-hidden />}
            renderRoot={(props) => <Link to="/streams/wall" {...props} />}
          >
            {strings.wall.title}
          </Button>
          <DialogButton
            label={text.create}
            leftSection={<IconPlus size={16} aria-hidden />}
            dialog={(close) => <CreateStreamDialog onClose={close} />}
          />
        </div>
      </header>
      <StreamFilters
        search={search}
        onFilter={(name, value) =>
          navigate({ search: ({ cursor: _, ...rest }) => streamSearch({ ...rest, [name]: value }), replace: true })
        }
      />
      <QueryProblem error={streams.error} />
      {!found && !streams.error && <Loading lines={6} />}
      {found && found.items.length > 0 && (
        <StreamList streams={found.items} ticked={ticked} onTick={setTicked} sort={search.sort} onSort={sortBy} />
      )}
      {found?.items.length === 0 && <NoMatch onClear={() => navigate({ search: {} })}>{text.noMatch}</NoMatch>}
      <PageLinks
        cursor={search.cursor}
        nextCursor={found?.nextCursor}
        onCursor={(cursor) =>
          navigate({ search: ({ cursor: _, ...rest }) => ({ ...rest, ...(cursor && { cursor }) }) })
        }
      />
      {selected.length > 0 && (
        <Suspense>
          <StreamSelection selected={selected} onClear={() => setTicked(new Set())} />
        </Suspense>
      )}
    </div>
  );
}
