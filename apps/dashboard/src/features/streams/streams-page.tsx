import { Button } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconLayoutGrid, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Loading } from "../../components/loading.tsx";
import page from "../../components/page.module.css";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { lazyPage } from "../../lib/lazy-page.ts";
import { strings } from "../../strings.ts";
import { CreateStreamDialog } from "./create-stream-dialog.tsx";
import { StreamFilters } from "./stream-filters.tsx";
import { StreamList } from "./stream-list.tsx";
import { streamsQuery } from "./stream-queries.ts";
import { isNarrowed, streamSearch } from "./stream-search.ts";
import { StreamSelection } from "./stream-selection.tsx";
import classes from "./streams-page.module.css";

const FirstStream = lazyPage(() => import("./first-stream.tsx"), "FirstStream");

const text = strings.streams;
const route = getRouteApi("/app/streams");

export function StreamsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const streams = useQuery(streamsQuery(search));
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  useDocumentTitle(`${text.title} · ${strings.app.name}`);

  const found = streams.data;
  // Only what is in sight can be selected: a row that leaves the page leaves the selection.
  const selected = found?.items.filter(({ id }) => picked.has(id)) ?? [];
  const isWholeList = !isNarrowed(search) && search.cursor === undefined;
  // A project without streams sees another page, so the list waits for the server's answer.
  if (isWholeList && found === undefined && streams.error === null) return <Loading />;
  if (isWholeList && found?.items.length === 0 && !streams.isPlaceholderData) return <FirstStream />;
  return (
    <div className={page.page}>
      <header className={page.header}>
        <h1>{text.title}</h1>
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
      {!found && <Loading />}
      {found && found.items.length > 0 && (
        <StreamList
          streams={found.items}
          picked={picked}
          onPick={setPicked}
          sort={search.sort}
          onSort={(sort) =>
            navigate({ search: ({ cursor: _, ...rest }) => streamSearch({ ...rest, sort }), replace: true })
          }
        />
      )}
      {found && found.items.length === 0 && <NothingFound />}
      <PageLinks
        cursor={search.cursor}
        nextCursor={found?.nextCursor}
        onCursor={(cursor) =>
          navigate({ search: ({ cursor: _, ...rest }) => ({ ...rest, ...(cursor && { cursor }) }) })
        }
      />
      {selected.length > 0 && <StreamSelection selected={selected} onClear={() => setPicked(new Set())} />}
    </div>
  );
}

function NothingFound() {
  return (
    <p className={classes.nothing}>
      {text.noMatch} <Link to="/streams">{text.clear}</Link>
    </p>
  );
}
