import type { Track } from "../packet.ts";
import type { Cut, Sample, TimelineSink } from "../timeline/timeline-sink.ts";
import { FeedReader, type FeedReaderSettings } from "./feed-reader.ts";
import { FeedRing, type RingBounds, type RingItem } from "./feed-ring.ts";
import { GopCache, type GopEntry, isSample } from "./gop-cache.ts";

/** A listener of a feed. It must neither throw nor wait: a reader that may be slow opens a `FeedReader`. */
export interface FeedSink extends TimelineSink {
  /** The session is over. */
  end(): void;
}

export interface AttachOptions {
  /**
   * Begin at the source's last IDR; or there also where no reader was there to keep it, with the pictures alone, out of the live window; or with
   * the next sample, whatever it is.
   */
  readonly from: "keyframe" | "window" | "now";
}

/** The bounds say how far readers of their own pace may be behind. */
export interface FeedSettings extends RingBounds {
  /** The live window's pictures since the last IDR; the caller takes over a share of each. */
  readonly window?: () => readonly Sample[];
}

interface Place {
  readonly sink: FeedSink;
  waitsForKeyframe: boolean;
}

/**
 * A session's packets for every reader but the packagers. It is tapped behind the timeline, so all readers have one clock, the same cuts,
 * and audio without holes.
 *
 * Packets since the last IDR are kept while the feed has a reader: a stream that is only passed through holds no packet longer than its
 * part. The first reader of such a stream waits for the next IDR, or takes the pictures out of the live window.
 */
export class SessionFeed implements FeedSink {
  readonly #places = new Set<Place>();
  readonly #gop = new GopCache();
  readonly #window: () => readonly Sample[];
  readonly #ring: FeedRing;
  /** Null between two stretches. */
  #tracks: readonly Track[] | null = null;

  constructor({ window = () => [], ...bounds }: FeedSettings = {}) {
    this.#window = window;
    this.#ring = new FeedRing(bounds);
  }

  /** Since the last IDR, for a reader that has to begin again. */
  get gop(): readonly GopEntry[] {
    return this.#gop.entries;
  }

  /** Tell `sink` what it needs to begin, then everything, until the returned function is called. */
  attach(sink: FeedSink, { from }: AttachOptions): () => void {
    const place = { sink, waitsForKeyframe: from !== "now" && !this.#gop.isWhole };
    if (this.#tracks) {
      sink.stretch(this.#tracks);
      if (from !== "now") this.#replay(sink);
      else if (this.#gop.newestCut) sink.cut(this.#gop.newestCut);
      if (from === "window" && place.waitsForKeyframe) place.waitsForKeyframe = !this.#replayWindow(sink);
    }
    this.#places.add(place);
    return () => {
      this.#places.delete(place);
      this.#left();
    };
  }

  /** A place for a reader that reads at its own pace, from its first `read` until it is closed. */
  openReader(settings: FeedReaderSettings, { from }: { readonly from: "keyframe" | "now" }): FeedReader {
    const replays = from === "keyframe" && this.#gop.isWhole && this.#ring.hasRoomFor(this.#gop.entries);
    return new FeedReader(settings, {
      ring: this.#ring,
      opening: this.#opening(replays),
      waitsForEntry: from === "keyframe" && !replays,
      onClosed: () => this.#left(),
    });
  }

  stretch(tracks: readonly Track[]): void {
    this.#tracks = tracks;
    this.#ring.signal({ type: "stretch", tracks });
    for (const { sink } of this.#places) sink.stretch(tracks);
  }

  cut(cut: Cut): void {
    this.#gop.cut(cut);
    this.#ring.signal({ type: "cut", cut });
    for (const { sink } of this.#places) sink.cut(cut);
  }

  sample(sample: Sample): void {
    if (!this.#isRead) return;
    const isEntry = isEntryPoint(sample, this.#tracks ?? []);
    this.#gop.sample(sample);
    this.#ring.sample(sample, isEntry);
    for (const place of this.#places) {
      if (place.waitsForKeyframe && !isEntry) continue;
      place.waitsForKeyframe = false;
      place.sink.sample(sample);
    }
  }

  pause(ticks: number): void {
    this.#tracks = null;
    this.#gop.clear();
    this.#ring.signal({ type: "pause", ticks });
    for (const { sink } of this.#places) sink.pause(ticks);
  }

  end(): void {
    this.#gop.clear();
    this.#ring.signal({ type: "end" });
    for (const { sink } of this.#places) sink.end();
    this.#places.clear();
  }

  get #isRead(): boolean {
    return this.#places.size > 0 || this.#ring.isRead;
  }

  #left(): void {
    if (!this.#isRead) this.#gop.releaseSamples();
  }

  /** False where the window has no IDR to begin with. */
  #replayWindow(sink: FeedSink): boolean {
    const samples = this.#window();
    for (const sample of samples) {
      sink.sample(sample);
      sample.data.release();
    }
    return samples.length > 0;
  }

  #replay(sink: FeedSink): void {
    for (const entry of this.#gop.entries) {
      if (isSample(entry)) sink.sample(entry);
      else sink.cut(entry);
    }
  }

  /** What a new reader is told before anything new. */
  #opening(replays: boolean): RingItem[] {
    if (!this.#tracks) return [];
    const cut = this.#gop.newestCut;
    const entries = replays ? this.#gop.entries : cut ? [cut] : [];
    for (const entry of entries) if (isSample(entry)) entry.data.retain();
    const items = entries.map((entry): RingItem => (isSample(entry) ? entry : { type: "cut", cut: entry }));
    return [{ type: "stretch", tracks: this.#tracks }, ...items];
  }
}

/** True for a sample that a reader can begin with. */
export function isEntryPoint({ kind, isIndependent }: Sample, tracks: readonly Track[]): boolean {
  return isIndependent && (kind === "video" || tracks.every((track) => track.kind === "audio"));
}
