import type { Track } from "../packet.ts";
import type { Cut, Sample, TimelineSink } from "../timeline/timeline-sink.ts";

export interface AttachOptions {
  /** Begin with the source's next IDR; with its last one, out of the live window and without its sound; or with the next sample, whatever it is. */
  readonly from: "keyframe" | "window" | "now";
}

/** Where readers of packets attach. The returned function detaches. */
export interface Feed {
  attach(sink: TimelineSink, options: AttachOptions): () => void;
}

/** What can be given again. */
type ReplaySink = Pick<TimelineSink, "cut" | "sample">;

interface Place {
  readonly sink: TimelineSink;
  waitsForKeyframe: boolean;
}

/**
 * A session's packets for every reader but the packagers. It is tapped behind the timeline, so all readers have one clock, the same cuts,
 * and audio without holes. It keeps no packet: a reader that needs one for longer retains it, and what there was since the last IDR is read from
 * the live window.
 */
export class SessionFeed implements Feed, TimelineSink {
  readonly #places = new Set<Place>();
  readonly #window: (sink: ReplaySink) => boolean;
  /** Null between two stretches. */
  #tracks: readonly Track[] | null = null;
  /** The newest of the stretch. */
  #cut: Cut | null = null;

  /** `window` gives a sink the live window's cuts and pictures since the last IDR. It returns false, and gives nothing, if it has none. */
  constructor(window: (sink: ReplaySink) => boolean = () => false) {
    this.#window = window;
  }

  /** Tell `sink` what it needs to begin, then everything, until the returned function is called. */
  attach(sink: TimelineSink, { from }: AttachOptions): () => void {
    const place = { sink, waitsForKeyframe: from !== "now" };
    if (this.#tracks) {
      sink.stretch(this.#tracks);
      if (from === "window") place.waitsForKeyframe = !this.replay(sink);
      else if (this.#cut) sink.cut(this.#cut);
    }
    this.#places.add(place);
    return () => this.#places.delete(place);
  }

  stretch(tracks: readonly Track[]): void {
    this.#tracks = tracks;
    for (const { sink } of this.#places) sink.stretch(tracks);
  }

  cut(cut: Cut): void {
    this.#cut = cut;
    for (const { sink } of this.#places) sink.cut(cut);
  }

  sample(sample: Sample): void {
    for (const place of this.#places) {
      if (place.waitsForKeyframe && !isEntryPoint(sample, this.#tracks ?? [])) continue;
      place.waitsForKeyframe = false;
      place.sink.sample(sample);
    }
  }

  pause(ticks: number): void {
    this.#tracks = null;
    this.#cut = null;
    for (const { sink } of this.#places) sink.pause(ticks);
  }

  moved(): void {
    for (const { sink } of this.#places) sink.moved?.();
  }

  end(): void {
    for (const { sink } of this.#places) sink.end();
    this.#places.clear();
  }

  /** Give `sink` the stretch again from its last IDR on. False where the window has no IDR: then it is only given the newest cut. */
  replay(sink: ReplaySink): boolean {
    const isReplayed = this.#window(sink);
    if (!isReplayed && this.#cut) sink.cut(this.#cut);
    return isReplayed;
  }
}

/** True for a sample that a reader can begin with. */
export function isEntryPoint({ kind, isIndependent }: Sample, tracks: readonly Track[]): boolean {
  return isIndependent && (kind === "video" || tracks.every((track) => track.kind === "audio"));
}
