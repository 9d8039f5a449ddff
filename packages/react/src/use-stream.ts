import type { Stream, StreamHealth } from "@weir/client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { StreamReader } from "./clients.ts";
import { explained, mayHeal } from "./refusals.ts";

/** What was read last, and why it could not be read since. */
export interface Polled<Value> {
  /** Undefined before the first answer. */
  readonly data: Value | undefined;
  /** Of the last call; null if it succeeded. */
  readonly error: Error | null;
  readonly isLoading: boolean;
  /** Reads again now. */
  readonly refresh: () => void;
}

const REFRESH_MS = 5000;

/** The stream, read again every 5 s, or every `refreshMs`. A failure that a repetition cannot cure ends it. */
export function useStream(client: StreamReader, id: string | null, refreshMs = REFRESH_MS): Polled<Stream> {
  return usePolled(id, refreshMs, (known, signal) => client.streams.get(known, { signal }));
}

/** The stream's health, read again every 5 s, or every `refreshMs`. A web page's key needs a rule for `data/stream/:id/health`. */
export function useStreamHealth(client: StreamReader, id: string | null, refreshMs = REFRESH_MS): Polled<StreamHealth> {
  return usePolled(id, refreshMs, (known, signal) => client.streams.health(known, { signal }));
}

interface Read<Value> {
  readonly id: string | null;
  readonly data: Value | undefined;
  readonly error: Error | null;
}

/** Reads while the component is shown; nothing while the id is null. */
function usePolled<Value>(
  id: string | null,
  refreshMs: number,
  read: (id: string, signal: AbortSignal) => Promise<Value>,
): Polled<Value> {
  const [last, setLast] = useState<Read<Value>>({ id, data: undefined, error: null });
  const [asked, setAsked] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` reads again now
  useEffect(() => {
    if (id === null) return;
    const abort = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      let isOver = false;
      try {
        const data = await latest.current(id, abort.signal);
        if (!abort.signal.aborted) setLast({ id, data, error: null });
      } catch (error) {
        if (abort.signal.aborted) return;
        isOver = !mayHeal(error);
        setLast((before) => ({ id, data: before.id === id ? before.data : undefined, error: explained(error) }));
      }
      if (!isOver && !abort.signal.aborted) again = setTimeout(() => void look(), refreshMs);
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(again);
    };
  }, [id, refreshMs, asked]);
  const refresh = useCallback(() => setAsked((before) => before + 1), []);
  // Nothing of another stream is shown while the first answer of this one is awaited.
  const { data, error } = last.id === id ? last : { data: undefined, error: null };
  return { data, error, isLoading: id !== null && data === undefined && error === null, refresh };
}
