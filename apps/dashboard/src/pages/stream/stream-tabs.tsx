import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { type ReactNode, Suspense, useEffect, useRef } from "react";
import { SessionList } from "../../features/sessions/session-list.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { lazyPage } from "../../shared/lib/lazy-page.ts";
import { strings } from "../../shared/strings.ts";
import { StreamOverview } from "./stream-overview.tsx";
import { STREAM_TABS, type StreamTab } from "./stream-page-search.ts";
import { StreamStage } from "./stream-stage.tsx";
import classes from "./stream-tabs.module.css";

// The browser loads these tabs when a person opens them.
const HealthTab = lazyPage(() => import("../../features/health/health-tab.tsx"), "HealthTab");
const TargetsTab = lazyPage(() => import("../../features/multistream/targets-tab.tsx"), "TargetsTab");
const EventsTab = lazyPage(() => import("../../features/events/events-tab.tsx"), "EventsTab");
const ViewersPanel = lazyPage(() => import("../../features/views/viewers-panel.tsx"), "ViewersPanel");
const StreamAccess = lazyPage(() => import("./stream-access.tsx"), "StreamAccess");

const route = getRouteApi("/app/streams/$streamId");

/** The tabs of one stream. Each has an address; leaving a tab forgets the choices made in it. */
export function StreamTabs({ stream }: { readonly stream: Stream }) {
  const { tab = "overview" } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (wanted: string | null): void => {
    const next = STREAM_TABS.find((known) => known === wanted);
    navigate({ search: next && next !== "overview" ? { tab: next } : {}, replace: true, resetScroll: false });
  };
  const list = useRef<HTMLDivElement>(null);
  // A phone shows a part of the row: the open tab is always in it.
  useEffect(() => {
    const row = list.current;
    const chosen = row?.querySelector<HTMLElement>(`[data-tab="${tab}"]`);
    if (row && chosen) row.scrollLeft = chosen.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  return (
    <Tabs value={tab} keepMounted={false} onChange={open}>
      <Tabs.List className={classes.list ?? ""} ref={list}>
        {STREAM_TABS.map((name) => (
          <Tabs.Tab key={name} value={name} data-tab={name}>
            {strings.streams.page.tabs[name]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {/* One place in the tree for every tab, so that the player goes on when the tab changes. */}
      <div className={tab === "overview" ? classes.below : classes.beside} data-live={stream.isActive}>
        <StreamStage stream={stream} isAside={tab !== "overview"} />
        <Tabs.Panel value={tab} className={classes.content ?? ""}>
          <PanelBoundary key={tab}>
            <Suspense fallback={<Loading />}>{contentOf(tab, stream)}</Suspense>
          </PanelBoundary>
        </Tabs.Panel>
      </div>
    </Tabs>
  );
}

function contentOf(tab: StreamTab, stream: Stream): ReactNode {
  switch (tab) {
    case "overview":
      return <StreamOverview stream={stream} />;
    case "health":
      return <HealthTab stream={stream} />;
    case "viewers":
      return <ViewersPanel playbackId={stream.playbackId} />;
    case "sessions":
      return <StreamSessions streamId={stream.id} />;
    case "multistream":
      return <TargetsTab stream={stream} />;
    case "access":
      return <StreamAccess stream={stream} />;
    case "events":
      return <StreamLog streamId={stream.id} />;
  }
}

function StreamSessions({ streamId }: { readonly streamId: string }) {
  const { cursor, created } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <SessionList
      ofStream={streamId}
      search={{ ...(cursor && { cursor }), ...(created && { created }) }}
      onSearch={({ streamId: _, ...search }) => navigate({ search: { tab: "sessions", ...search } })}
    />
  );
}

function StreamLog({ streamId }: { readonly streamId: string }) {
  const { show, at } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <EventsTab
      streamId={streamId}
      search={{ ...(show && { show }), ...(at !== undefined && { at }) }}
      onSearch={(search) => navigate({ search: { tab: "events", ...search }, resetScroll: false })}
    />
  );
}
