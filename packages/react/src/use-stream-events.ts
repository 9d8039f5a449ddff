import type { StreamEvent } from "@weir/client";
import { useEffect, useRef, useState } from "react";
import type { StreamReader } from "./clients.ts";
import { explained } from "./refusals.ts";

export interface StreamEventOptions {
  /** Events after this time, in milliseconds since the epoch, then live ones; by default only live ones. */
  readonly from?: number;
  /** How many of the newest events are kept; 100 by default. */
  readonly keep?: number;
  /** Called with each event, once and in order. */
  readonly onEvent?: (event: StreamEvent) => void;
}

/** The newest events of a stream, oldest first. */
export interface StreamEvents {
  readonly events: readonly StreamEvent[];
  readonly isConnected: boolean;
  /** Why the feed ended; null while it runs or reconnects. */
  readonly error: Error | null;
}

const KEEP = 100;
const NONE: StreamEvents = { events: [], isConnected: false, error: null };

/** The events of a stream while the component is shown. It reconnects by itself and loses nothing. A web page's key needs a rule for `data/stream/:id/events`. */
export function useStreamEvents(
  client: StreamReader,
  id: string | null,
  { from, keep = KEEP, onEvent }: StreamEventOptions = {},
): StreamEvents {
  const [feed, setFeed] = useState<StreamEvents & { readonly id: string | null }>({ ...NONE, id });
  const latest = useRef({ client, keep, onEvent });
  latest.current = { client, keep, onEvent };
  useEffect(() => {
    if (id === null) return;
    const abort = new AbortController();
    const { signal } = abort;
    setFeed({ ...NONE, id });
    const onConnection = (isConnected: boolean): void => {
      if (!signal.aborted) setFeed((before) => ({ ...before, isConnected }));
    };
    const follow = async (): Promise<void> => {
      for await (const event of latest.current.client.streams.events(id, { from, signal, onConnection })) {
        if (signal.aborted) return;
        latest.current.onEvent?.(event);
        setFeed((before) => ({ ...before, events: newest([...before.events, event], latest.current.keep) }));
      }
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) setFeed((before) => ({ ...before, isConnected: false, error: explained(error) }));
    });
    return () => abort.abort();
  }, [id, from]);
  const { events, isConnected, error } = feed.id === id ? feed : NONE;
  return { events, isConnected, error };
}

/** Negative numbers are none; `slice` would keep all for 0. */
const newest = (events: readonly StreamEvent[], keep: number): readonly StreamEvent[] =>
  keep > 0 ? events.slice(-keep) : [];
