import { Tabs } from "@mantine/core";
import { getRouteApi, lazyRouteComponent } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { type ReactNode, Suspense } from "react";
import { strings } from "../../strings.ts";
import { SessionList } from "../sessions/index.ts";
import { StreamOverview } from "./stream-overview.tsx";
import { STREAM_TABS, type StreamTab } from "./stream-page-search.ts";
import classes from "./stream-tabs.module.css";

// Fetched when they are opened.
const StreamAccess = lazyRouteComponent(() => import("./stream-access.tsx"), "StreamAccess");

const route = getRouteApi("/rooms/streams/$streamId");

/** The rooms of one stream. Each has an address; what is chosen in one is forgotten with it. */
export function StreamTabs({ stream }: { readonly stream: Stream }) {
  const { tab = "overview" } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (wanted: string | null): void => {
    const next = STREAM_TABS.find((known) => known === wanted);
    navigate({ search: next && next !== "overview" ? { tab: next } : {}, replace: true, resetScroll: false });
  };
  return (
    <Tabs value={tab} keepMounted={false} onChange={open}>
      <Tabs.List className={classes.list ?? ""}>
        {STREAM_TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {strings.streams.page.tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} pt={16}>
        <Suspense fallback={<p className="quiet">{strings.app.loading}</p>}>{contentOf(tab, stream)}</Suspense>
      </Tabs.Panel>
    </Tabs>
  );
}

function contentOf(tab: StreamTab, stream: Stream): ReactNode {
  switch (tab) {
    case "overview":
      return <StreamOverview stream={stream} />;
    case "sessions":
      return <StreamSessions streamId={stream.id} />;
    case "access":
      return <StreamAccess stream={stream} />;
  }
}

function StreamSessions({ streamId }: { readonly streamId: string }) {
  const { cursor, play } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <SessionList
      streamId={streamId}
      cursor={cursor}
      play={play}
      onSearch={(search) => navigate({ search: { tab: "sessions", ...search } })}
    />
  );
}
