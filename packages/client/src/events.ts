import type { StreamEvent } from "@weir/contract";
import { answerOf } from "./operation.ts";
import { readServerSent } from "./server-sent.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { wait } from "./wait.ts";
import { WeirError } from "./weir-error.ts";

/** Selects a stream's events, and receives changes of the connection. */
export interface EventOptions extends CallOptions {
  /** Events after this time, in milliseconds since the epoch, then live ones. Without it and `lastEventId`, only live ones. */
  readonly from?: number | undefined;
  /** With `from`: events until this time, then the end. */
  readonly to?: number | undefined;
  /** Events after the one with this id, instead of `from`. */
  readonly lastEventId?: string | undefined;
  /** Called when events are missing that the server no longer keeps. */
  readonly onGap?: (() => void) | undefined;
  /** Called when the feed is connected, and when the connection is lost. */
  readonly onConnection?: ((isConnected: boolean) => void) | undefined;
}

/** The server sends something every 20 s. */
const SILENCE_MS = 50_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

/**
 * The events of a stream in order, each once, until `to`, until the loop is left or until `signal` is aborted. When the connection is lost or
 * the server is unavailable, it reconnects with growing waits and resumes after the last event. Throws WeirError for failures that a retry
 * cannot fix.
 */
export async function* readEvents(
  transport: Transport,
  streamId: string,
  { to, signal, headers, onGap, onConnection, ...start }: EventOptions = {},
): AsyncGenerator<StreamEvent, void> {
  let { from, lastEventId } = start;
  let retryMs = FIRST_RETRY_MS;
  const left = new AbortController();
  const query = () => ({ to, ...(lastEventId === undefined ? { from } : { lastEventId }) });
  try {
    for (;;) {
      let isConnected = false;
      let askedMs = 0;
      try {
        const response = await answerOf(transport, "GET /api/data/stream/:id/events", {
          params: { id: streamId },
          query: query(),
          accept: "text/event-stream",
          isEndless: true,
          headers,
          // The loop below retries, for as long as it takes.
          maxRetries: 0,
          signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal,
        });
        // Live from here on, even if the connection is lost before the first event.
        if (lastEventId === undefined) from ??= Date.parse(response.headers.get("date") ?? "") || Date.now();
        isConnected = true;
        onConnection?.(true);
        retryMs = FIRST_RETRY_MS;
        if (!response.body) throw new Error("the answer has no body");
        for await (const sent of readServerSent(response.body, SILENCE_MS)) {
          if ("comment" in sent) {
            if (sent.comment === "gap") onGap?.();
            continue;
          }
          const event = JSON.parse(sent.data) as StreamEvent;
          lastEventId = event.id;
          yield event;
        }
        if (to !== undefined) return;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof WeirError && isFinal(error.status)) throw error;
        if (error instanceof WeirError) askedMs = Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_MS);
      }
      if (isConnected) onConnection?.(false);
      await wait(Math.max(askedMs, retryMs * (0.5 + Math.random() / 2)), signal);
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
    }
  } finally {
    left.abort();
  }
}

/** Refused because of the request or the caller. */
const isFinal = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;
