import type { Log } from "../../platform/log.ts";
import type { Track } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import { isSample } from "./gop-cache.ts";
import { type FeedSink, isEntryPoint } from "./session-feed.ts";

const MAX_ITEMS = 1024;
/** 8 s of 8 Mbit/s. */
const MAX_BYTES = 8 * 1024 * 1024;

type Signal =
  | { readonly type: "stretch"; readonly tracks: readonly Track[] }
  | { readonly type: "cut"; readonly cut: Cut }
  | { readonly type: "pause"; readonly ticks: number }
  | { readonly type: "end" };

export type FeedItem = Signal | { readonly type: "sample"; readonly sample: Sample };

/** Samples wait as they are: an object of its own for each in each reader would cost the source more than the reader. */
type Queued = Signal | Sample;

export interface FeedReaderSettings {
  readonly log: Log;
  /** The name of the reader, for the log. */
  readonly name: string;
  /** There is something to read where there was nothing. Called from within the source's packet: it must not wait. */
  readonly onReadable: () => void;
  readonly maxItems?: number;
  readonly maxBytes?: number;
}

/** The packets that a reader that is behind needs before it goes on: the newest of each, in this order. */
interface Missed {
  pause?: Signal;
  stretch?: Signal;
  cut?: Signal;
}

/**
 * A place in a feed for a reader that may be slow: a bounded queue of its own. When the queue is full, all of it is dropped, and what
 * follows too, until the next IDR. So a slow reader goes on with what is current, and neither the source nor another reader notices.
 */
export class FeedReader implements FeedSink {
  readonly #settings: FeedReaderSettings;
  readonly #maxItems: number;
  readonly #maxBytes: number;
  /** Items from `#head` on are queued. */
  readonly #queue: Queued[] = [];
  #head = 0;
  #bytes = 0;
  #tracks: readonly Track[] = [];
  /** Null while nothing is dropped. */
  #missed: Missed | null = null;
  #dropped = 0;
  #isOver = false;

  constructor(settings: FeedReaderSettings) {
    this.#settings = settings;
    this.#maxItems = settings.maxItems ?? MAX_ITEMS;
    this.#maxBytes = settings.maxBytes ?? MAX_BYTES;
  }

  /** Samples that this reader was too slow for. */
  get dropped(): number {
    return this.#dropped;
  }

  /** The oldest item, or null. The caller releases a sample's payload. */
  read(): FeedItem | null {
    const item = this.#queue[this.#head];
    if (!item) return null;
    this.#head++;
    if (isSample(item)) this.#bytes -= item.data.byteLength;
    if (this.#head === this.#queue.length || this.#head >= this.#maxItems) {
      this.#queue.splice(0, this.#head);
      this.#head = 0;
    }
    return isSample(item) ? { type: "sample", sample: item } : item;
  }

  /** The reader is gone: what it has not read is released. */
  close(): void {
    this.#finish();
    for (const item of this.#takeAll()) if (isSample(item)) item.data.release();
  }

  stretch(tracks: readonly Track[]): void {
    this.#tracks = tracks;
    this.#tell("stretch", { type: "stretch", tracks });
  }

  cut(cut: Cut): void {
    this.#tell("cut", { type: "cut", cut });
  }

  sample(sample: Sample): void {
    if (this.#isOver) return;
    const { byteLength } = sample.data;
    this.#makeRoom(byteLength);
    if (this.#missed && (byteLength > this.#maxBytes || !isEntryPoint(sample, this.#tracks))) {
      this.#dropped++;
      return;
    }
    sample.data.retain();
    this.#goOn();
    this.#bytes += byteLength;
    this.#push(sample);
  }

  pause(ticks: number): void {
    this.#tell("pause", { type: "pause", ticks });
  }

  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#push({ type: "end" });
  }

  #tell(type: keyof Missed, item: Signal): void {
    if (this.#isOver) return;
    this.#makeRoom(0);
    if (this.#missed) this.#missed[type] = item;
    else this.#push(item);
  }

  /** Where `bytes` more do not fit, what is queued is dropped, and so is what follows. */
  #makeRoom(bytes: number): void {
    const isFull = this.#queue.length - this.#head >= this.#maxItems || this.#bytes + bytes > this.#maxBytes;
    if (!isFull || this.#missed) return;
    this.#missed = {};
    for (const item of this.#takeAll()) {
      if (isSample(item)) {
        item.data.release();
        this.#dropped++;
      } else if (item.type !== "end") this.#missed[item.type] = item;
    }
  }

  #goOn(): void {
    const missed = this.#missed;
    if (!missed) return;
    this.#missed = null;
    for (const item of [missed.pause, missed.stretch, missed.cut]) if (item) this.#push(item);
  }

  #push(item: Queued): void {
    this.#queue.push(item);
    if (this.#queue.length - this.#head === 1) this.#settings.onReadable();
  }

  #takeAll(): Queued[] {
    const items = this.#queue.splice(0).slice(this.#head);
    this.#head = 0;
    this.#bytes = 0;
    return items;
  }

  /** Nothing more is queued. The number of dropped samples is final, and logged once. */
  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { log, name } = this.#settings;
    if (this.#dropped > 0)
      log.warn({ reader: name, dropped: this.#dropped }, "a reader of a stream was too slow: samples were dropped");
  }
}
