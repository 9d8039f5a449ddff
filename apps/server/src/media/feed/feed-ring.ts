import type { Track } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import { isSample } from "./gop-cache.ts";

const MAX_ITEMS = 1024;
/** 8 s of 8 Mbit/s. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Items between two looks for what all readers have passed. */
const LOOK_EVERY = 64;
/** The ring gets shorter by one item of so many: its memory comes back little by little, and the next packets take it. */
const SHORTEN_EVERY = 8;

export type Signal =
  | { readonly type: "stretch"; readonly tracks: readonly Track[] }
  | { readonly type: "cut"; readonly cut: Cut }
  | { readonly type: "pause"; readonly ticks: number }
  | { readonly type: "end" };

/** Samples lie in a ring as they are: an object of its own for each would cost the source more than keeping it does. */
export type RingItem = Signal | Sample;

export interface RingBounds {
  readonly maxItems?: number;
  readonly maxBytes?: number;
}

/** A reader as its ring knows it. */
export interface RingReader {
  /** The number of its next item. */
  readonly at: number;
  /** Nothing before the next entry point is for it. */
  readonly isBehind: boolean;
  /** The entry point that it waited for has come. */
  begin(entry: EntryPoint): void;
  /** There is something for it to read. */
  readable(): void;
}

/** A sample that a reader can begin with: its number, and how many samples there were before it. */
export interface EntryPoint {
  readonly at: number;
  readonly samples: number;
}

/**
 * The newest items of a feed, numbered from 0, for all readers of their own pace. An item is kept once, and each reader has its place:
 * so it costs the source the same however many readers there are, and how slow. A reader whose place is gone was too slow.
 */
export class FeedRing {
  readonly #maxItems: number;
  readonly #maxBytes: number;
  /** An item's place is its number modulo the length. */
  readonly #items: (RingItem | undefined)[] = [];
  #first = 0;
  #end = 0;
  /** No reader needs an item before. */
  #passed = 0;
  #bytes = 0;
  #samples = 0;
  #entry: EntryPoint | null = null;
  /** Of those that fell out of the ring, the newest of each type with its number. */
  readonly #fallen = new Map<Signal["type"], { readonly at: number; readonly signal: Signal }>();
  readonly #readers = new Set<RingReader>();
  /** Those that begin with an entry point that is still to come. */
  #beginners: RingReader[] = [];
  #waiting: RingReader[] = [];

  constructor({ maxItems = MAX_ITEMS, maxBytes = MAX_BYTES }: RingBounds = {}) {
    this.#maxItems = maxItems;
    this.#maxBytes = maxBytes;
  }

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** The number of the oldest item that is kept. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next item gets. */
  get end(): number {
    return this.#end;
  }

  /** The samples that were put in so far. */
  get samples(): number {
    return this.#samples;
  }

  /** A reader may keep so much for itself. */
  hasRoomFor(items: readonly object[]): boolean {
    let bytes = 0;
    for (const item of items) if (isSample(item)) bytes += item.data.byteLength;
    return items.length <= this.#maxItems && bytes <= this.#maxBytes;
  }

  /** Undefined where it is no longer kept, or not there yet. */
  item(number: number): RingItem | undefined {
    if (number < this.#first || number >= this.#end) return undefined;
    return this.#items[number % this.#maxItems];
  }

  /** The newest entry point that is kept, if it is not before `number`. */
  entryFrom(number: number): EntryPoint | null {
    return this.#entry && this.#entry.at >= Math.max(number, this.#first) ? this.#entry : null;
  }

  /** The newest signal of each type from `number` up to before `end`, in the order in which a reader needs them. */
  signals(number: number, end: number): Signal[] {
    const newest = new Map<Signal["type"], Signal>();
    for (const { at, signal } of this.#fallen.values()) if (at >= number) newest.set(signal.type, signal);
    for (let at = Math.max(number, this.#first); at < end; at++) {
      const item = this.item(at);
      if (item && !isSample(item)) newest.set(item.type, item);
    }
    return (["pause", "stretch", "cut"] as const).flatMap((type) => newest.get(type) ?? []);
  }

  signal(signal: Signal): void {
    if (this.isRead) this.#put(signal, false);
  }

  sample(sample: Sample, isEntryPoint: boolean): void {
    if (!this.isRead) return;
    sample.data.retain();
    this.#bytes += sample.data.byteLength;
    if (isEntryPoint) this.#enter({ at: this.#end, samples: this.#samples });
    this.#samples++;
    this.#put(sample, isEntryPoint);
  }

  join(reader: RingReader, waitsForEntry: boolean): void {
    this.#readers.add(reader);
    if (waitsForEntry) this.#beginners.push(reader);
  }

  leave(reader: RingReader): void {
    this.#readers.delete(reader);
    this.#beginners = this.#beginners.filter((other) => other !== reader);
    this.#waiting = this.#waiting.filter((other) => other !== reader);
    if (!this.isRead) while (this.#first < this.#end) this.#drop();
  }

  /** Tell this reader, once, when there is something for it. */
  wait(reader: RingReader): void {
    if (!this.#waiting.includes(reader)) this.#waiting.push(reader);
  }

  #put(item: RingItem, isEntryPoint: boolean): void {
    if (this.#end - this.#first === this.#maxItems) this.#drop();
    this.#items[this.#end % this.#maxItems] = item;
    this.#end++;
    while (this.#bytes > this.#maxBytes) this.#drop();
    if (this.#end % LOOK_EVERY === 0) this.#passed = this.#slowestAt();
    if (this.#first < this.#passed) this.#drop();
    if (this.#end % SHORTEN_EVERY === 0 && this.#first < this.#passed) this.#drop();
    if (this.#waiting.length > 0) this.#wake(isEntryPoint || (!isSample(item) && item.type === "end"));
  }

  #enter(entry: EntryPoint): void {
    this.#entry = entry;
    if (this.#beginners.length === 0) return;
    for (const reader of this.#beginners) reader.begin(entry);
    this.#beginners = [];
  }

  #wake(canBegin: boolean): void {
    const waiting = this.#waiting;
    this.#waiting = canBegin ? [] : waiting.filter(({ isBehind }) => isBehind);
    for (const reader of waiting) if (canBegin || !reader.isBehind) reader.readable();
  }

  #slowestAt(): number {
    let slowest = this.#end;
    for (const { at } of this.#readers) slowest = Math.min(slowest, at);
    return slowest;
  }

  #drop(): void {
    const item = this.item(this.#first);
    this.#items[this.#first % this.#maxItems] = undefined;
    if (item && isSample(item)) {
      this.#bytes -= item.data.byteLength;
      item.data.release();
    } else if (item) this.#fallen.set(item.type, { at: this.#first, signal: item });
    this.#first++;
  }
}
