import { type FragmentSample, writeAudioFragment, writeVideoFragment } from "@weir/formats/mp4";
import type { StoredTrack } from "../../ports/index.ts";
import { initOfTrack } from "../packaging/init-of-track.ts";
import type { InitSegment } from "../packaging/live-segment.ts";
import type { Track } from "../packet.ts";
import { keyframeOf, SpanWriter } from "../stored/span-writer.ts";
import { storedTrackOf } from "../stored/stored-track.ts";
import type { VodMessage } from "./vod-protocol.ts";

export type Send = (message: VodMessage, bytes?: readonly Uint8Array[]) => void;

/** A sample whose duration is not known yet. */
export type PlacedSample = Omit<FragmentSample, "duration">;

export interface SegmentWriterSettings {
  readonly rendition: string;
  readonly track: Track;
  readonly epoch: number;
  readonly send: Send;
}

/**
 * Writes the segments of one rendition, each as one fragment, and sends them in spans of about 8 MiB. A sample is held until the next one gives its
 * duration.
 */
export class SegmentWriter {
  readonly #settings: SegmentWriterSettings;
  readonly #init: InitSegment;
  readonly #stored: StoredTrack;
  readonly #isVideo: boolean;
  readonly #span: SpanWriter;
  #samples: FragmentSample[] = [];
  #held: PlacedSample | null = null;
  #msn: number | null = null;

  constructor(settings: SegmentWriterSettings) {
    this.#settings = settings;
    this.#init = initOfTrack(settings.track);
    this.#stored = storedTrackOf(this.#init);
    this.#isVideo = settings.track.kind === "video";
    this.#span = new SpanWriter(settings.epoch);
    const { rendition, send } = settings;
    send({ type: "init", rendition, file: this.#init.name }, [this.#init.bytes]);
  }

  /** Starts segment `msn` with the next sample, which also gives the last sample of the previous segment its duration. */
  begin(msn: number): void {
    if (this.#held) this.#nextMsn = msn;
    else this.#open(msn);
  }
  #nextMsn: number | null = null;

  /** Adds a sample, in decoding order. `duration` is optional. */
  add(sample: PlacedSample, duration?: number): void {
    this.#release(sample.decodeTime);
    if (this.#nextMsn !== null) this.#open(this.#nextMsn);
    this.#nextMsn = null;
    if (duration === undefined) this.#held = sample;
    else this.#samples.push({ ...sample, duration });
  }

  /** Sends the remaining samples. `endTicks` is the end of the last one, in ticks of the rendition. */
  end(endTicks: number): void {
    this.#release(endTicks);
    this.#closeSegment();
    this.#closeSpan();
  }

  #release(nextDecodeTime: number): void {
    const held = this.#held;
    if (!held) return;
    this.#held = null;
    this.#samples.push({ ...held, duration: Math.max(1, nextDecodeTime - held.decodeTime) });
  }

  #open(msn: number): void {
    this.#closeSegment();
    this.#msn = msn;
  }

  #closeSegment(): void {
    const [first] = this.#samples;
    const msn = this.#msn;
    if (!first || msn === null) return;
    const fragment = (this.#isVideo ? writeVideoFragment : writeAudioFragment)(msn, this.#samples);
    const segment = {
      ...{ msn, startTicks: first.time, programDateTimeMs: 0, discontinuity: false },
      durationTicks: this.#samples.reduce((sum, { duration }) => sum + duration, 0),
      ...{ isIndependent: first.isIndependent, init: this.#init.name },
      ...(this.#isVideo && keyframeOf(first.isIndependent, fragment)),
    };
    this.#span.add(segment, fragment);
    this.#samples = [];
    if (this.#span.isFull) this.#closeSpan();
  }

  #closeSpan(): void {
    const ended = this.#span.end();
    if (!ended) return;
    const { rendition, send } = this.#settings;
    const { span, segments, pieces } = ended;
    send({ type: "span", rendition, span, track: this.#stored, segments }, pieces);
  }
}
