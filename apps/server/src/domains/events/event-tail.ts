import type { StreamEvent } from "@weir/contract";
import type { Timer } from "../../platform/clock.ts";
import { BackOff } from "../../platform/retry.ts";
import type { Subject } from "../subject.ts";
import type { EventDeps } from "./event-log.ts";

/** An event and its lines in the feed, rendered once for all readers. */
export interface FeedItem {
  readonly seq: number;
  readonly event: StreamEvent;
  readonly lines: Buffer;
}

/** Listeners for new events, called in the order of the events. They must not wait or throw. */
export interface TailReader {
  /** `lines` holds the lines of all `items`, in order. */
  take(items: readonly FeedItem[], lines: Buffer): void;
  ping(): void;
  /** The feed is closing. */
  close(): void;
}

export interface EventTailSettings extends EventDeps {
  readonly subject: Subject;
  readonly render: (event: StreamEvent) => Buffer;
}

const PAGE = 500;

/**
 * The end of one subject's log, read once for all followers in this process. It knows the position it has read to (`seq`): a reader at the same
 * position joins in the same turn, and misses and repeats nothing.
 */
export class EventTail {
  readonly readers = new Set<TailReader>();
  readonly #settings: EventTailSettings;
  readonly #backOff = new BackOff(100, 5_000);
  #seq = 0;
  #at = 0;
  #hasNews = false;
  #isReading = true;
  #retry: Timer | null = null;
  #isClosed = false;

  constructor(settings: EventTailSettings) {
    this.#settings = settings;
  }

  /** Readers have received everything up to here. */
  get seq(): number {
    return this.#seq;
  }

  /** Start at the log's end. Rejects if the database does not answer. */
  async start(): Promise<void> {
    const { db, clock, events, subject } = this.#settings;
    this.#at = clock.now();
    this.#seq = await events.head(db, subject);
    this.#isReading = false;
    this.#read();
  }

  /** The log has grown, or may have grown. */
  wake(): void {
    this.#hasNews = true;
    this.#read();
  }

  close(): void {
    this.#isClosed = true;
    this.#retry?.cancel();
    for (const reader of this.readers) reader.close();
  }

  #read(): void {
    if (this.#isReading || !this.#hasNews || this.#isClosed) return;
    this.#isReading = true;
    this.#hasNews = false;
    this.#readToEnd()
      .then(() => this.#backOff.reset())
      .catch((error: unknown) => this.#readLater(error))
      .finally(() => {
        this.#isReading = false;
        this.#read();
      });
  }

  async #readToEnd(): Promise<void> {
    const { db, events, subject, render } = this.#settings;
    for (;;) {
      const page = await events.since(db, subject, this.#seq, PAGE, { lastAt: this.#at });
      const last = page.at(-1);
      if (!last) return;
      this.#seq = last.seq;
      this.#at = Math.max(this.#at, last.event.timestamp);
      if (this.readers.size > 0) {
        const items = page.map(({ seq, event }) => ({ seq, event, lines: render(event) }));
        const lines = Buffer.concat(items.map((item) => item.lines));
        for (const reader of this.readers) reader.take(items, lines);
      }
      if (page.length < PAGE) return;
    }
  }

  #readLater(error: unknown): void {
    const { clock, log, subject } = this.#settings;
    log.warn({ err: error, subject }, "the event feed could not read the log; retrying");
    this.#retry?.cancel();
    this.#retry = clock.after(this.#backOff.next(), () => this.wake());
  }
}
