import { opusPacketSamples } from "@weir/formats/codecs";
import { type AudioTrack, type Payload, type SourcePacket, TICKS_PER_SECOND } from "../packet.ts";
import { type Silence, silenceOf } from "../silence.ts";
import { rescale } from "./ticks.ts";
import type { Sample } from "./timeline-sink.ts";

const DRIFT_MS = 40;
/** A longer gap starts a new stretch before it reaches this class. */
const MAX_SILENCE_SECONDS = 10;

/**
 * Places audio frames on the timeline by counting samples, and keeps the count within 40 ms of the source's clock.
 *
 * A step between two frames (lost frames, or a clock set back) is corrected at once, with silence or by dropping duplicates. Slow drift is corrected
 * by one frame per segment, which is inaudible.
 */
export class AudioClock {
  readonly track: AudioTrack;
  readonly #emit: (sample: Sample) => void;
  readonly #silence: Silence;
  readonly #driftSamples: number;
  #offset = 0;
  /** Position of the next frame, in samples. */
  #next: number | null = null;
  #earliest = 0;
  /** True until the current stretch has a frame. */
  #awaitsFirst = true;
  /** Expected source time of the next frame, in samples, from the last frame's time and duration. */
  #sourceEnd: number | null = null;
  #mayCorrect = true;
  #isAbsent = false;

  constructor(track: AudioTrack, emit: (sample: Sample) => void) {
    this.track = track;
    this.#emit = emit;
    this.#silence = silenceOf(track);
    this.#driftSamples = (track.sampleRate * DRIFT_MS) / 1000;
  }

  /**
   * Starts a stretch: T = source time + offset, both in 90 kHz ticks. Frames before `ticks` are dropped. After an earlier stretch the count
   * continues without a gap, at most half a frame off the source's clock.
   */
  start(offset: number, ticks: number): void {
    this.#offset = offset;
    this.#awaitsFirst = true;
    this.#sourceEnd = null;
    this.#isAbsent = false;
    this.#earliest = this.#toSamples(ticks);
  }

  /** Nothing comes on this track: silence takes its place until a frame comes, which then has its own time again. */
  lose(): void {
    this.#isAbsent = true;
    this.#awaitsFirst = true;
    this.#sourceEnd = null;
  }

  get isAbsent(): boolean {
    return this.#isAbsent;
  }

  /** End of the emitted samples, in 90 kHz ticks. */
  get endTicks(): number {
    return rescale(this.#next ?? this.#earliest, this.track.sampleRate, TICKS_PER_SECOND);
  }

  /** A segment has started: one more frame of slow drift may be corrected. */
  segmentBegan(): void {
    this.#mayCorrect = true;
  }

  push(packet: SourcePacket): void {
    const samples = this.#samplesOf(packet.data.bytes);
    if (samples === 0) return packet.data.release();
    const expected = this.#toSamples(packet.pts + this.#offset);
    this.#isAbsent = false;
    if (this.#awaitsFirst) {
      if (expected < this.#firstAllowed) return packet.data.release();
      this.#awaitsFirst = false;
      if (this.#next !== null) this.#insert(Math.round((expected - this.#next) / this.#silence.samples));
    }
    this.#next ??= expected;
    const stepped = this.#sourceEnd !== null && Math.abs(expected - this.#sourceEnd) > this.#driftSamples;
    this.#sourceEnd = expected + samples;

    const drift = expected - this.#next;
    if (drift > this.#driftSamples) {
      if (stepped || drift > 4 * this.#driftSamples) this.#insert(Math.floor(drift / this.#silence.samples));
      else if (this.#mayCorrect) this.#correct(() => this.#insert(1));
    } else if (drift < -this.#driftSamples) {
      // Late by more than the correction of one segment: the frame was already replaced by silence, or is a duplicate.
      if (stepped || drift < -4 * this.#driftSamples) return packet.data.release();
      if (this.#mayCorrect) return this.#correct(() => packet.data.release());
    }
    this.#place(packet.data, samples);
  }

  /** Adds silence up to `ticks`, for a track that stopped while the other continues. */
  fillTo(ticks: number): void {
    this.#insert(Math.floor(this.#missingFrames(ticks)));
  }

  /** Adds silence up to `ticks`, or up to one frame beyond. */
  fillPast(ticks: number): void {
    this.#insert(Math.ceil(this.#missingFrames(ticks)));
  }

  /** A frame before it would repeat a time for which there is silence by now. */
  get #firstAllowed(): number {
    return Math.max(this.#earliest, (this.#next ?? 0) - this.#silence.samples / 2);
  }

  #missingFrames(ticks: number): number {
    this.#next ??= this.#earliest;
    return (this.#toSamples(ticks) - this.#next) / this.#silence.samples;
  }

  #insert(frames: number): void {
    const { data, samples } = this.#silence;
    const most = (MAX_SILENCE_SECONDS * this.track.sampleRate) / samples;
    for (let i = 0; i < Math.min(frames, most); i++) {
      data.retain();
      this.#place(data, samples);
    }
  }

  #correct(correction: () => void): void {
    this.#mayCorrect = false;
    correction();
  }

  #place(data: Payload, samples: number): void {
    const time = this.#next ?? this.#earliest;
    this.#next = time + samples;
    this.#emit({
      trackId: this.track.id,
      kind: "audio",
      time,
      decodeTime: time,
      duration: samples,
      isIndependent: true,
      data,
    });
  }

  /** Of one frame; 0 for invalid data. */
  #samplesOf(bytes: Uint8Array): number {
    return this.track.codec === "opus" ? opusPacketSamples(bytes) : this.track.frameSamples;
  }

  #toSamples(ticks: number): number {
    return rescale(ticks, TICKS_PER_SECOND, this.track.sampleRate);
  }
}
