import type { StreamEvent } from "@weir/contract";

/** What has come of a stream's events so far. A new value with every change. */
export interface FeedView {
  /** Oldest first; only the newest `MAX_KEPT`. */
  readonly events: readonly StreamEvent[];
  /** False before the first connection, and while one is lost: then nothing comes until there is one again. */
  readonly isConnected: boolean;
  /** Events after the last one that was seen were not kept by the server any longer. */
  readonly hasGap: boolean;
  /** Why nothing more comes; null while more may. */
  readonly error: Error | null;
}

/** Where a feed begins: after an event that is known, or after a moment in milliseconds since the epoch. */
export interface FeedStart {
  readonly from?: number;
  readonly lastEventId?: string;
}

/** What is told of a feed beside its events. */
export interface FeedNews {
  readonly signal: AbortSignal;
  readonly onConnection: (isConnected: boolean) => void;
  readonly onGap: () => void;
}

export type OpenFeed = (start: FeedStart, news: FeedNews) => AsyncIterable<StreamEvent>;

/** Half an hour of a stream with a ladder, 36 events a minute. */
export const MAX_KEPT = 1000;
/** A replay comes as hundreds of events at once; they are shown together. */
const FLUSH_MS = 100;

/** The events of one stream since `from`, kept for whoever looks. Stops and goes on where it was; nothing is lost between. */
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
