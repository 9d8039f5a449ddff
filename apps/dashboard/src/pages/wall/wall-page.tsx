import { Switch } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconLayoutGrid } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useDeferredValue } from "react";
import { streamsQuery } from "../../features/streams/stream-queries.ts";
import { viewersByIdQuery } from "../../features/views/view-queries.ts";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { NoMatch } from "../../shared/components/no-match.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { SearchBox } from "../../shared/components/search-box.tsx";
import { strings } from "../../shared/strings.ts";
import classes from "./wall-page.module.css";
import { type WallSearch, wallSearch, wallStreams } from "./wall-search.ts";
import { WallTile } from "./wall-tile.tsx";

const text = strings.wall;
const route = getRouteApi("/app/streams/wall");
/** A page of the wall: more than a screen holds, and few enough to ask for every few seconds. */
const MAX_TILES = 48;
const NO_TILES: readonly Stream[] = [];

/** The pictures of all live streams, each with its state, health and viewers. */
export function WallPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: streams, error } = useQuery(streamsQuery(wallStreams(search), MAX_TILES));
  const { data: viewers } = useQuery(viewersByIdQuery);
  // Rendered in small steps, so that the page answers meanwhile.
  const tiles = useDeferredValue(streams?.items ?? NO_TILES, NO_TILES);
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  const narrow = (change: Record<string, unknown>): void => {
    void navigate({
      search: ({ cursor: _, ...rest }: WallSearch) => wallSearch({ ...rest, ...change }),
      replace: true,
    });
  };
  return (
    <div className={page.stack}>
      <header className={page.title}>
        <Link to="/streams" className={page.back}>
          {strings.streams.title}
        </Link>
        <h1>{text.title}</h1>
      </header>
      <search className={page.filters}>
        <SearchBox label={strings.streams.search} words={search.name} onWords={(name) => narrow({ name })} />
        <Switch
          label={text.unhealthyOnly}
          checked={search.state === "unhealthy"}
          onChange={({ currentTarget: { checked } }) => narrow({ state: checked ? "unhealthy" : undefined })}
        />
      </search>
      <QueryProblem error={error} />
      {!streams && !error && <Loading lines={6} />}
      {streams?.items.length === 0 && <NothingLive search={search} onClear={() => navigate({ search: {} })} />}
      <ul className={classes.wall} aria-label={text.title}>
        {tiles.map((stream) => (
          <WallTile key={stream.id} stream={stream} viewers={viewers?.get(stream.playbackId) ?? 0} />
        ))}
      </ul>
      <PageLinks
        cursor={search.cursor}
        nextCursor={streams?.nextCursor}
        onCursor={(cursor) => navigate({ search: wallSearch({ ...search, cursor }) })}
      />
    </div>
  );
}

interface NothingProps {
  readonly search: WallSearch;
  readonly onClear: () => void;
}

function NothingLive({ search: { name, state }, onClear }: NothingProps) {
  if (name === undefined && state === undefined)
    return (
      <EmptyState
        icon={<IconLayoutGrid size={24} />}
        {...text.none}
        action={<Link to="/streams">{strings.streams.clear}</Link>}
      />
    );
  return <NoMatch onClear={onClear}>{text.noMatch}</NoMatch>;
}
