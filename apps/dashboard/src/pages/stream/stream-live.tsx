import { useQueryClient } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { type ReactNode, useEffect, useState } from "react";
import { StreamEvents, useEventFeed } from "../../features/events/event-queries.tsx";

/** The time whose events the page loads at first: the end of an idle stream's last session, or the last half hour. */
const HISTORY_MS = 30 * 60_000;

/** Follows a stream's events for its page, and renews what they change. */
export function StreamLive({ stream, children }: { readonly stream: Stream; readonly children: ReactNode }) {
  const [from] = useState(() =>
    Math.max(stream.createdAt, (stream.isActive ? Date.now() : stream.lastSeen) - HISTORY_MS),
  );
  return (
    <StreamEvents streamId={stream.id} from={from}>
      <Renewal streamId={stream.id} />
      {children}
    </StreamEvents>
  );
}

function Renewal({ streamId }: { readonly streamId: string }) {
  const feed = useEventFeed();
  const queries = useQueryClient();
  useEffect(() => {
    let newest: string | undefined;
    return feed.subscribe(() => {
      const { events } = feed.view();
      const types = new Set(events.slice(events.findLastIndex(({ id }) => id === newest) + 1).map(({ type }) => type));
      newest = events.at(-1)?.id;
      if (types.size === 0) return;
      void queries.invalidateQueries({ queryKey: ["health", streamId] });
      // A segment that was transcoded changes counters, which nobody waits for.
      if (types.delete("transcode") && types.size === 0) return;
      void queries.invalidateQueries({ queryKey: ["stream", streamId] });
      if (types.has("stream_state") || types.has("webhook_event"))
        void queries.invalidateQueries({ queryKey: ["sessions"] });
    });
  }, [feed, queries, streamId]);
  return null;
}
