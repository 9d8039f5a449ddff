import { silentAacFrame } from "@weir/formats/codecs";
import type { FeedSink } from "../feed/session-feed.ts";
import { type AacTrack, type Payload, TICKS_PER_SECOND, type Track } from "../packet.ts";
import type { Sample } from "../timeline/timeline-sink.ts";
import type { LineFormat, LineFrame, LineTracks } from "./line-format.ts";
import { type LineMemory, LinePages } from "./line-pages.ts";
import { SILENT_TRACK, SilentAudio } from "./silent-audio.ts";
import { Slate } from "./slate.ts";

/** The bytes since the last keyframe, for a target that joins. With more, it waits for the next one. */
const MAX_KEPT_BYTES = 3 * 1024 * 1024;
/** They are written at the latest when there are so many. */
const MAX_SAMPLES = 256;
/** Where every frame is a keyframe, not every one needs a batch of its own. */
const MIN_ENTRY_TICKS = TICKS_PER_SECOND / 2;

/** A run of bytes of the line. */
export interface LineBatch {
  readonly run: Payload;
  /** The messages before it for a target that begins with it; null where none can. */
  readonly opening: Uint8Array | null;
  /** How far the media in it goes, in milliseconds of the timeline. */
  readonly mediaTimeMs: number;
}

/** Takes what a line gives. One that keeps a run beyond the call retains it first. It must neither throw nor wait. */
export interface LineReader {
  batch(batch: LineBatch): void;
  /** The protocol does not carry this broadcast. */
  refuse(reason: string): void;
}

export interface BroadcastLineSettings {
  readonly format: LineFormat;
  readonly isVideoOnly: boolean;
  /** The targets get a picture and silence while the source is away. */
  readonly hasSlate: boolean;
  readonly memory: LineMemory;
}

/**
 * One rendition as one protocol sends it: each sample is written once, and what comes within a moment is one run of bytes that all targets
 * of the line share. A slow target harms only itself.
 */
export class BroadcastLine implements FeedSink {
  readonly #settings: BroadcastLineSettings;
  readonly #readers = new Set<LineReader>();
  readonly #pages: LinePages;
  /** They wait here to be written together. */
  readonly #samples: Sample[] = [];
  #tracks: LineTracks | null = null;
  /** Why the protocol does not carry these tracks. */
  #refusal: string | null = null;
  #audioId = -1;
  #audioRate = TICKS_PER_SECOND;
  #silence: SilentAudio | null = null;
  #silentFrame: Uint8Array = silentAacFrame(SILENT_TRACK.channels);
  readonly #slate: Slate | null;
  /** How much later everything is sent than it stands on the timeline: as long as there was a slate. */
  #shiftTicks = 0;
  /** The tracks are new: what follows has to be opened. */
  #isUnopened = false;
  /** Of the batch that is being gathered. */
  #opening: Uint8Array | null = null;
  #enteredTicks = Number.NEGATIVE_INFINITY;
  #mediaTicks = 0;
  #flushedAtMs = Number.NEGATIVE_INFINITY;
  readonly #kept: LineBatch[] = [];
  #keptBytes = 0;

  constructor(settings: BroadcastLineSettings) {
    this.#settings = settings;
    this.#pages = new LinePages(settings.memory, (run) => this.#give(run));
    const output = { picture: this.#writeSlate, silence: this.#writeSilence };
    this.#slate = settings.hasSlate ? new Slate(output) : null;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Give `reader` everything since the last keyframe, then what comes, until the returned function is called. */
  join(reader: LineReader): () => void {
    this.flush();
    if (this.#refusal !== null) reader.refuse(this.#refusal);
    for (const batch of this.#kept) reader.batch(batch);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Time has passed: give what was gathered, when there is enough. To be called every 50 ms. */
  tick(nowMs: number): void {
    this.#slate?.tick(nowMs);
    if (nowMs - this.#flushedAtMs < this.#settings.format.batchMs) return;
    this.#flushedAtMs = nowMs;
    this.flush();
  }

  /** Give what was gathered. */
  flush(): void {
    this.#serialize();
    this.#send();
  }

  /** Nobody reads it any more. */
  close(): void {
    for (const { data } of this.#samples.splice(0)) data.release();
    this.#forget();
    this.#slate?.forget();
    this.#pages.close();
  }

  stretch(all: readonly Track[]): void {
    const { format, isVideoOnly } = this.#settings;
    this.#serialize();
    this.#shiftTicks += this.#slate?.end() ?? 0;
    const video = all.find((track) => track.kind === "video") ?? null;
    const sound = all.find((track): track is AacTrack => track.kind === "audio" && track.codec === "aac") ?? null;
    const tracks: LineTracks = { video, audio: isVideoOnly ? null : (sound ?? SILENT_TRACK) };
    this.#silence = isVideoOnly || sound ? null : (this.#silence ?? new SilentAudio());
    this.#audioId = !isVideoOnly && sound ? sound.id : -1;
    this.#audioRate = sound?.sampleRate ?? TICKS_PER_SECOND;
    if (this.#tracks === null || !areSame(this.#tracks, tracks)) {
      this.#isUnopened = true;
      this.#slate?.forget();
    }
    this.#tracks = tracks;
    this.#silentFrame = silentAacFrame((sound ?? SILENT_TRACK).channels);
    this.#enteredTicks = Number.NEGATIVE_INFINITY;
    this.#refusal = format.begin(tracks);
    if (this.#refusal !== null) for (const reader of this.#readers) reader.refuse(this.#refusal);
  }

  cut(): void {}

  sample(sample: Sample): void {
    if (!this.#tracks || this.#refusal !== null) return;
    sample.data.retain();
    this.#samples.push(sample);
    if (this.#samples.length >= MAX_SAMPLES) this.#serialize();
  }

  /** All at once: one by one, as they come, each would find the caches full of something else. */
  #serialize(): void {
    for (const sample of this.#samples) {
      this.#writeSample(sample);
      sample.data.release();
    }
    this.#samples.length = 0;
  }

  #writeSample({ kind, trackId, time, decodeTime, isIndependent, data: payload }: Sample): void {
    const { bytes: data } = payload;
    if (kind === "video") {
      if (isIndependent) this.#slate?.keyframe(payload);
      const decodeTicks = decodeTime + this.#shiftTicks;
      this.#write({ kind, decodeTicks, presentationTicks: time + this.#shiftTicks, isIndependent, data });
      this.#silence?.until(decodeTicks, this.#writeSilence);
    } else if (trackId === this.#audioId)
      this.#writeAudio((time * TICKS_PER_SECOND) / this.#audioRate + this.#shiftTicks, data);
  }

  pause(ticks: number): void {
    this.flush();
    if (!this.#tracks || this.#refusal !== null) return;
    const from = ticks + this.#shiftTicks;
    const { audio } = this.#tracks;
    this.#slate?.begin(from, audio && (this.#silence ?? new SilentAudio(audio, from)));
  }

  end(): void {
    this.flush();
  }

  readonly #writeSlate = (ticks: number, data: Uint8Array): void =>
    this.#write({ kind: "video", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true, data });

  readonly #writeSilence = (ticks: number): void => this.#writeAudio(ticks, this.#silentFrame);

  #writeAudio(ticks: number, data: Uint8Array): void {
    this.#write({ kind: "audio", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true, data });
  }

  #write(frame: LineFrame): void {
    const isEntry = this.#isEntry(frame);
    if (isEntry || this.#isUnopened) {
      const opening = this.#settings.format.opening(frame.decodeTicks);
      if (this.#isUnopened) this.#pages.room(opening.byteLength).set(opening);
      this.#isUnopened = false;
      if (isEntry) this.#enter(opening, frame.decodeTicks);
    }
    this.#settings.format.write(this.#pages, frame);
    this.#mediaTicks = Math.max(this.#mediaTicks, frame.decodeTicks);
  }

  #isEntry({ kind, isIndependent, decodeTicks }: LineFrame): boolean {
    if (!isIndependent || (kind === "audio" && this.#tracks?.video)) return false;
    return decodeTicks - this.#enteredTicks >= MIN_ENTRY_TICKS;
  }

  /** The next batch is one with which a target can begin. */
  #enter(opening: Uint8Array, ticks: number): void {
    this.#send();
    this.#opening = opening;
    this.#enteredTicks = ticks;
  }

  #send(): void {
    if (this.#pages.gathered > 0) this.#give(this.#pages.take());
  }

  #give(run: Payload): void {
    const mediaTimeMs = Math.round((this.#mediaTicks * 1000) / TICKS_PER_SECOND);
    const batch: LineBatch = { run, opening: this.#opening, mediaTimeMs };
    this.#opening = null;
    for (const reader of this.#readers) reader.batch(batch);
    this.#keep(batch);
  }

  #keep(batch: LineBatch): void {
    if (batch.opening) this.#forget();
    else if (this.#kept.length === 0) return batch.run.release();
    this.#kept.push(batch);
    this.#keptBytes += batch.run.byteLength;
    if (this.#keptBytes > MAX_KEPT_BYTES) this.#forget();
  }

  #forget(): void {
    for (const { run } of this.#kept.splice(0)) run.release();
    this.#keptBytes = 0;
  }
}

function areSame(a: LineTracks, b: LineTracks): boolean {
  return isSame(a.video, b.video) && isSame(a.audio, b.audio);
}

function isSame(a: Track | null, b: Track | null): boolean {
  if (a === null || b === null) return a === b;
  return a.codec === b.codec && Buffer.compare(a.config, b.config) === 0;
}
