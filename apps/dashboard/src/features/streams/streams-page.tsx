import { Button, TextInput } from "@mantine/core";
import { useDebouncedCallback, useDocumentTitle } from "@mantine/hooks";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { CreateStreamDialog } from "./create-stream-dialog.tsx";
import { FirstStream } from "./first-stream.tsx";
import { StreamList } from "./stream-list.tsx";
import { type StreamListSearch, streamsQuery } from "./stream-queries.ts";
import classes from "./streams-page.module.css";

const text = strings.streams;
const route = getRouteApi("/rooms/streams");

export function StreamsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const streams = useQuery(streamsQuery(search));
  const [creating, setCreating] = useState(false);
  useDocumentTitle(`${text.title} · ${strings.app.name}`);

  const page = streams.data;
  const isFiltered = search.name !== undefined || search.active !== undefined || search.cursor !== undefined;
  if (page && page.items.length === 0 && !isFiltered) return <FirstStream />;
  return (
    <div className={classes.page}>
      <header className={classes.header}>
        <h1>{text.title}</h1>
        <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
          {text.create}
        </Button>
      </header>
      <div className={classes.filters}>
        <NameSearch
          name={search.name}
          onName={(name) =>
            navigate({ search: ({ active }) => ({ ...(active && { active }), ...(name && { name }) }), replace: true })
          }
        />
        <nav className={classes.shown} aria-label={text.show}>
          <Link to="." search={({ active: _, cursor: __, ...rest }) => rest} data-current={!search.active}>
            {text.all}
          </Link>
          <Link to="." search={({ cursor: _, ...rest }) => ({ ...rest, active: true })} data-current={!!search.active}>
            {text.active}
          </Link>
        </nav>
      </div>
      <QueryProblem error={streams.error} />
      {!page && <p className="quiet">{strings.app.loading}</p>}
      {page && page.items.length > 0 && <StreamList streams={page.items} />}
      {page && page.items.length === 0 && <NothingFound search={search} />}
      <PageLinks
        cursor={search.cursor}
        nextCursor={page?.nextCursor}
        onCursor={(cursor) =>
          navigate({ search: ({ cursor: _, ...rest }) => ({ ...rest, ...(cursor && { cursor }) }) })
        }
      />
      <CreateStreamDialog opened={creating} onClose={() => setCreating(false)} />
    </div>
  );
}

function NameSearch({ name, onName }: { readonly name: string | undefined; readonly onName: (name: string) => void }) {
  const [typed, setTyped] = useState(name ?? "");
  const sent = useRef(name);
  const search = useDebouncedCallback((wanted: string) => {
    sent.current = wanted || undefined;
    onName(wanted);
  }, 250);
  // The address changed by other means than this box: the browser's "back", or "show all".
  useEffect(() => {
    if (name === sent.current) return;
    sent.current = name;
    setTyped(name ?? "");
  }, [name]);
  return (
    <TextInput
      className={classes.search ?? ""}
      type="search"
      aria-label={text.search}
      placeholder={text.search}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value.trim());
      }}
    />
  );
}

function NothingFound({ search }: { readonly search: StreamListSearch }) {
  return (
    <p className={classes.nothing}>
      {search.name ? text.noMatch(search.name) : text.noneActive} <Link to="/streams">{text.clear}</Link>
    </p>
  );
}
