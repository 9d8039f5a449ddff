import type { Log } from "../../platform/log.ts";
import type { Sample } from "../timeline/timeline-sink.ts";
import type { EntryPoint, FeedRing, RingItem, RingReader, Signal } from "./feed-ring.ts";
import { isSample } from "./gop-cache.ts";

export type FeedItem = Signal | { readonly type: "sample"; readonly sample: Sample };

export interface FeedReaderSettings {
  readonly log: Log;
  /** The name of the reader, for the log. */
  readonly name: string;
  /** There is something to read, after `read` gave null. Called once, from within the source's packet: it must not wait. */
  readonly onReadable: () => void;
}

/** Where a reader begins. */
export interface ReaderStart {
  readonly ring: FeedRing;
  /** Read before what the ring has. The reader takes the shares of its samples. */
  readonly opening: readonly RingItem[];
  /** It begins with an entry point that is still to come. */
  readonly waitsForEntry: boolean;
  readonly onClosed: () => void;
}

/**
 * A place in a feed for a reader that may be slow. It reads when it likes, and the source does nothing for it. Where the ring has gone over
 * it, it goes on at the newest IDR, with the stretch and the cut that it is in: so a slow reader has what is current, and neither the
 * source nor another reader notices.
 */
export class FeedReader implements RingReader {
  readonly #settings: FeedReaderSettings;
  readonly #ring: FeedRing;
  readonly #onClosed: () => void;
  /** Read before the ring. */
  #ahead: RingItem[];
  #at: number;
  /** Samples of the ring before `#at`. */
  #samples: number;
  #hasBegun: boolean;
  #dropped = 0;
  #isClosed = false;

  constructor(settings: FeedReaderSettings, { ring, opening, waitsForEntry, onClosed }: ReaderStart) {
    this.#settings = settings;
    this.#ring = ring;
    this.#onClosed = onClosed;
    this.#ahead = [...opening];
    this.#hasBegun = !waitsForEntry;
    this.#at = ring.end;
    this.#samples = ring.samples;
    ring.join(this, waitsForEntry);
  }

  /** RingReader. */
  get at(): number {
    return this.#at;
  }

  /** RingReader. */
  get isBehind(): boolean {
    return !this.#hasBegun || this.#at < this.#ring.first;
  }

  /** RingReader. */
  begin(entry: EntryPoint): void {
    this.#hasBegun = true;
    this.#goTo(entry);
  }

  /** RingReader. */
  readable(): void {
    this.#settings.onReadable();
  }

  /** Samples that this reader was too slow for. */
  get dropped(): number {
    if (this.#isClosed || !this.#hasBegun || !this.isBehind) return this.#dropped;
    return this.#dropped + (this.#ring.entryFrom(this.#at) ?? this.#ring).samples - this.#samples;
  }

  /** The oldest item, or null where there is none now. The caller releases a sample's payload. */
  read(): FeedItem | null {
    if (this.#isClosed) return null;
    if (this.#ahead.length === 0 && this.isBehind) this.#catchUp();
    const ahead = this.#ahead.shift();
    if (ahead) return itemOf(ahead);
    const item = this.isBehind ? undefined : this.#ring.item(this.#at);
    if (!item) {
      this.#ring.wait(this);
      return null;
    }
    this.#at++;
    if (isSample(item)) {
      this.#samples++;
      item.data.retain();
    }
    return itemOf(item);
  }

  /** The reader is gone: what it has not read is released, and the number of dropped samples is final and logged once. */
  close(): void {
    if (this.#isClosed) return;
    this.#dropped = this.dropped;
    this.#isClosed = true;
    for (const item of this.#ahead) if (isSample(item)) item.data.release();
    this.#ahead = [];
    this.#ring.leave(this);
    this.#onClosed();
    const { log, name } = this.#settings;
    if (this.#dropped > 0)
      log.warn({ reader: name, dropped: this.#dropped }, "a reader of a stream was too slow: samples were dropped");
  }

  /** To the newest entry point, or to the end of the feed; nowhere while there is neither. */
  #catchUp(): void {
    const { end, samples } = this.#ring;
    const newest = this.#ring.item(end - 1);
    const isOver = newest !== undefined && !isSample(newest) && newest.type === "end";
    const place = this.#ring.entryFrom(this.#at) ?? (isOver ? { at: end - 1, samples } : null);
    if (!place) return;
    if (this.#hasBegun) this.#dropped += place.samples - this.#samples;
    this.#hasBegun = true;
    this.#goTo(place);
  }

  #goTo({ at, samples }: EntryPoint): void {
    this.#ahead.push(...this.#ring.signals(this.#at, at));
    this.#at = at;
    this.#samples = samples;
  }
}

function itemOf(item: RingItem): FeedItem {
  return isSample(item) ? { type: "sample", sample: item } : item;
}
