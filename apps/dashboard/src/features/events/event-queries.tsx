import { queryOptions } from "@tanstack/react-query";
import type { StreamEvent } from "@weir/contract";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { weir } from "../../shared/lib/weir.ts";
import { EventFeed, type FeedView, MAX_KEPT } from "./event-feed.ts";
import { EventSample } from "./event-sample.ts";

const NO_FEED = new EventFeed(async function* () {}, 0);
const Feed = createContext(NO_FEED);

interface Props {
  readonly streamId: string;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly children: ReactNode;
}

/** Follows the events of one stream for all components inside, over one connection, while the page is visible. */
export function StreamEvents({ streamId, from, children }: Props) {
  const [feed] = useState(
    () => new EventFeed((start, news) => weir.streams.events(streamId, { ...start, ...news }), from),
  );
  useEffect(() => {
    // A browser has few connections for one server; a page that nobody sees needs none, and misses nothing.
    const follow = (): void => (document.hidden ? feed.stop() : feed.start());
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      feed.stop();
    };
  }, [feed]);
  return <Feed value={feed}>{children}</Feed>;
}

export function useStreamEvents(): FeedView {
  const feed = useContext(Feed);
  return useSyncExternalStore(feed.subscribe, feed.view);
}

/** The feed itself, for a component that acts on events without showing them. */
export function useEventFeed(): EventFeed {
  return useContext(Feed);
}

/** The events between two moments, in milliseconds since the epoch; only the newest `MAX_KEPT` of them. */
export function eventRangeQuery(streamId: string, from: number, to: number) {
  return queryOptions({
    queryKey: ["events", streamId, from, to],
    queryFn: async ({ signal }) => {
      const events: StreamEvent[] = [];
      for await (const event of readRange(streamId, from, to, signal)) {
        events.push(event);
        if (events.length > MAX_KEPT) events.shift();
      }
      return events;
    },
    staleTime: 10_000,
  });
}

/** The same for a time of any length, for charts: the longer the time, the fewer measurements it keeps. */
export function eventSampleQuery(streamId: string, from: number, to: number) {
  return queryOptions({
    queryKey: ["event-sample", streamId, from, to],
    queryFn: async ({ signal }) => {
      const sample = new EventSample(to - from);
      for await (const event of readRange(streamId, from, to, signal)) sample.add(event);
      return sample;
    },
    staleTime: 10_000,
  });
}

function readRange(streamId: string, from: number, to: number, signal: AbortSignal) {
  // The feed begins after `from`.
  return weir.streams.events(streamId, { from: from - 1, to: Math.min(to, Date.now()), signal });
}
