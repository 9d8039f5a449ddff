import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Overview } from "@weir/contract";
import { hourlyViewsQuery, overviewQuery } from "../../features/overview/overview-queries.ts";
import { viewersByIdQuery } from "../../features/views/view-queries.ts";
import { Loading } from "../../shared/components/loading.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { Tile, tiles } from "../../shared/components/tile.tsx";
import { lazyPage } from "../../shared/lib/lazy-page.ts";
import { strings } from "../../shared/strings.ts";
import { figuresOf, LOW_DISK_SHARE } from "./overview-tiles.ts";
import { LiveStreams, RecentSessions } from "./recent-panels.tsx";

const FirstStream = lazyPage(() => import("../../features/streams/first-stream.tsx"), "FirstStream");

const text = strings.overview;

/** The first page: what is live, what needs attention, and how much room the server has. */
export function OverviewPage() {
  const overview = useQuery(overviewQuery);
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  if (!overview.data) return overview.error ? <QueryProblem error={overview.error} /> : <Loading lines={5} />;
  if (overview.data.streams.total === 0) return <FirstStream />;
  return (
    <div className={page.page}>
      <header className={page.header}>
        <h1>{text.title}</h1>
        <Link to="/usage">{strings.usage.title}</Link>
      </header>
      <QueryProblem error={overview.error} />
      <Troubles overview={overview.data} />
      <Tiles overview={overview.data} />
      <div className={page.columns}>
        <PanelBoundary>
          <LiveStreams />
        </PanelBoundary>
        <PanelBoundary>
          <RecentSessions />
        </PanelBoundary>
      </div>
    </div>
  );
}

interface Props {
  readonly overview: Overview;
}

/** The problems that need an operator. */
function Troubles({ overview: { streams, webhooks, disk } }: Props) {
  return (
    <>
      {streams.unhealthy > 0 && (
        <Note tone="failure" title={text.troubles.unhealthy(streams.unhealthy)}>
          <Link to="/streams" search={{ state: "unhealthy" }}>
            {text.troubles.showStreams}
          </Link>
        </Note>
      )}
      {webhooks.failing + webhooks.paused > 0 && (
        <Note tone="warning" title={text.troubles.webhooks(webhooks.failing, webhooks.paused)}>
          <Link to="/webhooks">{text.troubles.showWebhooks}</Link>
        </Note>
      )}
      {disk.freeBytes < disk.totalBytes * LOW_DISK_SHARE && (
        <Note tone="warning" title={text.troubles.disk}>
          <Link to="/sessions">{text.troubles.showSessions}</Link>
        </Note>
      )}
    </>
  );
}

function Tiles({ overview }: Props) {
  const viewers = useQuery(viewersByIdQuery);
  const { data: views } = useQuery(hourlyViewsQuery);
  const watching = viewers.data && [...viewers.data.values()].reduce((sum, count) => sum + count, 0);
  return (
    <dl className={tiles}>
      {figuresOf(overview, watching, views?.values).map((figure) => (
        <Tile key={figure.name} {...figure} />
      ))}
    </dl>
  );
}
