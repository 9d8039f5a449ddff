import type { StreamEvent } from "@weir/contract";

/** The events of a stream so far. Every change makes a new value. */
export interface FeedView {
  /** Oldest first; only the newest `MAX_KEPT`. */
  readonly events: readonly StreamEvent[];
  /** False before the first connection and while the connection is lost. No events arrive meanwhile. */
  readonly isConnected: boolean;
  /** The server had already deleted some events that this page has not seen. */
  readonly hasGap: boolean;
  /** The reason why the feed has ended; null while it runs. */
  readonly error: Error | null;
}

/** The begin of a feed: after a known event, or after a moment in milliseconds since the epoch. */
export interface FeedStart {
  readonly from?: number;
  readonly lastEventId?: string;
}

/** The state of a feed without its events. */
export interface FeedNews {
  readonly signal: AbortSignal;
  readonly onConnection: (isConnected: boolean) => void;
  readonly onGap: () => void;
}

export type OpenFeed = (start: FeedStart, news: FeedNews) => AsyncIterable<StreamEvent>;

/** Half an hour of a stream with a ladder, 36 events a minute. */
export const MAX_KEPT = 1000;
/** A replay brings hundreds of events at once; the page shows them together. */
const FLUSH_MS = 100;

/** Keeps the events of one stream since `from`. It can pause, and resumes after the last event without losing any. */
export class EventFeed {
  readonly #open: OpenFeed;
  readonly #from: number;
  readonly #listeners = new Set<() => void>();
  #view: FeedView = { events: [], isConnected: false, hasGap: false, error: null };
  #arrived: StreamEvent[] = [];
  #lastEventId: string | undefined;
  #flush: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | null = null;

  constructor(open: OpenFeed, from: number) {
    this.#open = open;
    this.#from = from;
  }

  readonly view = (): FeedView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    if (this.#running) return;
    this.#running = new AbortController();
    void this.#run(this.#running.signal);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = null;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const start = this.#lastEventId === undefined ? { from: this.#from } : { lastEventId: this.#lastEventId };
    if (this.#view.error) this.#show({ error: null });
    const news = {
      signal,
      onConnection: (isConnected: boolean) => !signal.aborted && this.#show({ isConnected }),
      onGap: () => this.#show({ hasGap: true }),
    };
    try {
      for await (const event of this.#open(start, news)) {
        if (signal.aborted) return;
        this.#lastEventId = event.id;
        this.#arrived.push(event);
        if (this.#arrived.length > MAX_KEPT) this.#arrived.shift();
        this.#flush ??= setTimeout(() => this.#showArrived(), FLUSH_MS);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.stop();
      this.#show({ isConnected: false, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  #showArrived(): void {
    this.#flush = undefined;
    const events = [...this.#view.events, ...this.#arrived].slice(-MAX_KEPT);
    this.#arrived = [];
    this.#show({ events });
  }

  #show(change: Partial<FeedView>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
