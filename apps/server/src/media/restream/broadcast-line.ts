import { type AacTrack, Payload, TICKS_PER_SECOND, type Track } from "../packet.ts";
import { SILENT_TRACK } from "../silence.ts";
import { AudioClock } from "../timeline/audio-clock.ts";
import type { Sample, TimelineSink } from "../timeline/timeline-sink.ts";
import type { LineFormat, LineFrame, LineTracks } from "./line-format.ts";
import { type LineMemory, LinePages } from "./line-pages.ts";
import { Slate } from "./slate.ts";

/** Limit of the bytes kept since the last keyframe, for targets that join. Beyond it, targets wait for the next keyframe. */
const MAX_KEPT_BYTES = 3 * 1024 * 1024;
/** Samples are serialized at the latest when this many are pending. */
const MAX_SAMPLES = 256;
/** A stretch begins this exactly where the one before has ended, unless viewers were shown something else in between. */
const HOLE_TICKS = TICKS_PER_SECOND / 3;
/** Not every keyframe gets its own batch if every frame is one. */
const MIN_ENTRY_TICKS = TICKS_PER_SECOND / 2;

/** Consecutive bytes of a line. */
export interface LineBatch {
  readonly run: Payload;
  /** The messages to send first to a target that starts with this batch; null if no target can. */
  readonly opening: Uint8Array | null;
  /** Number of frames in it. */
  readonly frames: number;
  /** End of its media, in milliseconds of the timeline. */
  readonly mediaTimeMs: number;
}

/** Receives the output of a line. A reader that keeps a run after the call must retain it. It must neither throw nor block. */
export interface LineReader {
  /** Whether it takes the next batch that a target can start with. */
  readonly hasRoom: boolean;
  batch(batch: LineBatch): void;
  /** The protocol does not support this broadcast. */
  refuse(reason: string): void;
}

export interface BroadcastLineSettings {
  readonly format: LineFormat;
  readonly isVideoOnly: boolean;
  /** Whether targets get a slate while the source is away. */
  readonly hasSlate: boolean;
  readonly memory: LineMemory;
}

/**
 * One rendition in the format of one protocol. Each sample is serialized once, and all targets of the line share the bytes. A slow target affects
 * only itself. From a keyframe for which no target has room, nothing is serialized until one for which a target has.
 */
export class BroadcastLine implements TimelineSink {
  readonly #settings: BroadcastLineSettings;
  readonly #readers = new Set<LineReader>();
  readonly #pages: LinePages;
  /** Samples waiting to be serialized together. */
  readonly #samples: Sample[] = [];
  #tracks: LineTracks | null = null;
  /** The reason why the protocol does not support these tracks; null if it does. */
  #refusal: string | null = null;
  #audioId = -1;
  /** Samples per second of each audio track, by its id. */
  #audioRates: readonly (number | undefined)[] = [];
  /** In place of the sound that the source does not have; null before its first picture, and where it has sound. */
  #silence: AudioClock | null = null;
  readonly #slate: Slate | null;
  /** Added to all timestamps: the total duration of the slates sent so far, without that of those that viewers got. */
  #shiftTicks = 0;
  /** End of the stretch before, until the first sample of the next. */
  #pausedTicks: number | null = null;
  /** The tracks have changed: the opening messages must precede what follows. */
  #isUnopened = false;
  /** The opening of the batch being collected. */
  #opening: Uint8Array | null = null;
  #frames = 0;
  /** A target had room at the last keyframe. */
  #isWanted = true;
  #enteredTicks = Number.NEGATIVE_INFINITY;
  #mediaTicks = 0;
  #flushedAtMs = Number.NEGATIVE_INFINITY;
  readonly #kept: LineBatch[] = [];
  #keptBytes = 0;

  constructor(settings: BroadcastLineSettings) {
    this.#settings = settings;
    this.#pages = new LinePages(settings.memory, (run) => this.#give(run));
    this.#slate = settings.hasSlate ? new Slate(this.#writeSlate) : null;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Gives `reader` everything since the last keyframe, then all further output, until the returned function is called. */
  join(reader: LineReader): () => void {
    this.flush();
    if (this.#refusal !== null) reader.refuse(this.#refusal);
    for (const batch of this.#kept) reader.batch(batch);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Sends the collected batch if it is due. Call every 50 ms. */
  tick(nowMs: number): void {
    this.#slate?.tick(nowMs);
    if (nowMs - this.#flushedAtMs < this.#settings.format.batchMs) return;
    this.#flushedAtMs = nowMs;
    this.flush();
  }

  /** Sends the collected batch. */
  flush(): void {
    this.#serialize();
    this.#send();
  }

  /** Call when the line has no readers left. */
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
    if (tracks.audio !== SILENT_TRACK) this.#silence = null;
    this.#audioId = !isVideoOnly && sound ? sound.id : -1;
    const rates: number[] = [];
    for (const track of all) if (track.kind === "audio") rates[track.id] = track.sampleRate;
    this.#audioRates = rates;
    if (this.#tracks === null || !areSame(this.#tracks, tracks)) {
      this.#isUnopened = true;
      this.#slate?.forget();
    }
    this.#tracks = tracks;
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

  /** Serializes all pending samples at once, which uses the CPU caches better than one by one as they arrive. */
  #serialize(): void {
    for (const sample of this.#samples) {
      this.#writeSample(sample);
      sample.data.release();
    }
    this.#samples.length = 0;
  }

  #writeSample({ kind, trackId, time, decodeTime, isIndependent, data: payload }: Sample): void {
    const { bytes: data } = payload;
    const ticks = kind === "video" ? time : (time * TICKS_PER_SECOND) / (this.#audioRates[trackId] ?? TICKS_PER_SECOND);
    this.#closeHole(ticks);
    if (kind === "video") {
      if (isIndependent) this.#slate?.keyframe(payload);
      const decodeTicks = decodeTime + this.#shiftTicks;
      this.#write({ kind, decodeTicks, presentationTicks: time + this.#shiftTicks, isIndependent, data });
      if (this.#tracks?.audio !== SILENT_TRACK) return;
      this.#silence ??= this.#silenceFrom(decodeTicks, SILENT_TRACK);
      this.#silence.fillTo(decodeTicks);
    } else if (trackId === this.#audioId) this.#writeAudio(ticks + this.#shiftTicks, data);
  }

  /** What viewers were shown in between took time on the timeline, but not here. */
  #closeHole(ticks: number): void {
    if (this.#pausedTicks === null) return;
    const hole = ticks - this.#pausedTicks;
    this.#pausedTicks = null;
    if (hole > HOLE_TICKS) this.#shiftTicks -= hole;
  }

  pause(ticks: number): void {
    this.flush();
    this.#pausedTicks ??= ticks;
    if (!this.#tracks || this.#refusal !== null) return;
    const from = ticks + this.#shiftTicks;
    const { audio } = this.#tracks;
    this.#slate?.begin(from, audio && (this.#silence ?? this.#silenceFrom(from, audio)));
  }

  end(): void {
    this.flush();
  }

  readonly #writeSlate = (ticks: number, data: Uint8Array): void =>
    this.#write({ kind: "video", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true, data });

  /** Writes the silence that it is filled with. It counts the target's time, in which slates take time. */
  #silenceFrom(ticks: number, track: AacTrack): AudioClock {
    const clock = new AudioClock(track, ({ time, data }) => {
      this.#writeAudio((time * TICKS_PER_SECOND) / track.sampleRate, data.bytes);
      data.release();
    });
    clock.start(0, ticks);
    return clock;
  }

  #writeAudio(ticks: number, data: Uint8Array): void {
    this.#write({ kind: "audio", decodeTicks: ticks, presentationTicks: ticks, isIndependent: true, data });
  }

  #write(frame: LineFrame): void {
    const isEntry = this.#isEntry(frame);
    if (isEntry || this.#isUnopened) {
      const opening = this.#settings.format.opening(frame.decodeTicks);
      if (this.#isUnopened) this.#pages.allocate(opening.byteLength).set(opening);
      this.#isUnopened = false;
      if (isEntry) this.#enter(opening, frame.decodeTicks);
    }
    if (this.#isWanted) this.#settings.format.write(this.#pages, frame);
    this.#frames++;
    this.#mediaTicks = Math.max(this.#mediaTicks, frame.decodeTicks);
  }

  #isEntry({ kind, isIndependent, decodeTicks }: LineFrame): boolean {
    if (!isIndependent || (kind === "audio" && this.#tracks?.video)) return false;
    return decodeTicks - this.#enteredTicks >= MIN_ENTRY_TICKS;
  }

  /** Starts a batch with which a target can start. */
  #enter(opening: Uint8Array, ticks: number): void {
    this.#send();
    this.#isWanted = [...this.#readers].some(({ hasRoom }) => hasRoom);
    if (this.#isWanted) this.#opening = opening;
    else this.#forget();
    this.#enteredTicks = ticks;
  }

  #send(): void {
    if (this.#pages.gathered > 0) this.#give(this.#pages.take());
    else if (this.#frames > 0) this.#give(new Payload(new Uint8Array()));
  }

  #give(run: Payload): void {
    const mediaTimeMs = Math.round((this.#mediaTicks * 1000) / TICKS_PER_SECOND);
    const batch: LineBatch = { run, opening: this.#opening, frames: this.#frames, mediaTimeMs };
    this.#opening = null;
    this.#frames = 0;
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
