import { type FragmentSample, writeAudioFragment, writeVideoFragment } from "@weir/formats/mp4";
import type { StoredSegment, StoredTrack } from "../../ports/index.ts";
import { initOfTrack } from "../packaging/init-of-track.ts";
import type { InitSegment } from "../packaging/live-segment.ts";
import { storedTrackOf } from "../packaging/stored-track.ts";
import type { Track } from "../packet.ts";
import { placeName } from "../stored/recording-keys.ts";
import type { VodMessage } from "./vod-protocol.ts";

/** A suitable object size for object stores. */
const FULL_BYTES = 8 * 1024 * 1024;

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
  #samples: FragmentSample[] = [];
  #held: PlacedSample | null = null;
  #msn: number | null = null;
  #span = "";
  #rows: StoredSegment[] = [];
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(settings: SegmentWriterSettings) {
    this.#settings = settings;
    this.#init = initOfTrack(settings.track);
    this.#stored = storedTrackOf(this.#init);
    this.#isVideo = settings.track.kind === "video";
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
    const length = fragment.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (this.#rows.length === 0) this.#span = `${placeName(this.#settings.epoch, msn)}.m4s`;
    this.#rows.push({
      ...{ msn, epoch: this.#settings.epoch, startTicks: first.time, programDateTimeMs: 0, discontinuity: false },
      durationTicks: this.#samples.reduce((sum, { duration }) => sum + duration, 0),
      ...{ isIndependent: first.isIndependent, gap: false, init: this.#init.name, span: this.#span },
      ...{ offset: this.#bytes, length },
    });
    this.#pieces.push(...fragment);
    this.#bytes += length;
    this.#samples = [];
    if (this.#bytes >= FULL_BYTES) this.#closeSpan();
  }

  #closeSpan(): void {
    if (this.#rows.length === 0) return;
    const { rendition, send } = this.#settings;
    send({ type: "span", rendition, span: this.#span, track: this.#stored, segments: this.#rows }, this.#pieces);
    this.#rows = [];
    this.#pieces = [];
    this.#bytes = 0;
  }
}
