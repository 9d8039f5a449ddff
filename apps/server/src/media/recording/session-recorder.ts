import { appendFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { EventSink, RecordedSegment, RecordingTrack, SegmentClosed } from "../../ports.ts";
import type { InitSegment, LiveSegment } from "../packaging/live-segment.ts";
import type { RenditionSegment } from "../packaging/segment-ledger.ts";
import { rescale } from "../timeline/ticks.ts";
import { recordingIndexKey, recordingKey } from "./recording-keys.ts";
import { SpanWriter } from "./span-writer.ts";

/** Segments held in memory while the disk is slow. Beyond it the recording stops, never the broadcast. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;

/** Rows held until they are sealed: about 15 minutes of two renditions. */
const MAX_ROWS = 1000;

export interface SessionRecorderSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly eventSink: EventSink;
  /** The session's own folder in the spool. */
  readonly folder: string;
  readonly projectId: string;
  readonly streamId: string;
  readonly sessionId: string;
}

type ClosedFact = Omit<SegmentClosed, "recorded">;

/**
 * Records one session: every closed segment goes to a local spool file, its row to a journal beside it, then the fact to the event sink, in
 * that order; spans are sealed into the object store at 8 MiB, 30 s or the end. After a crash the journal tells what the spool holds.
 * Everything happens on one queue, off the live path.
 */
export class SessionRecorder {
  readonly #settings: SessionRecorderSettings;
  readonly #spans = new Map<string, SpanWriter>();
  readonly #storedInits = new Set<string>();
  /** What each rendition was when it began; its rows count in this timescale. */
  readonly #tracks = new Map<string, RecordingTrack>();
  #rows: RecordedSegment[] = [];
  #epoch = 0;
  #queue: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #failed = false;

  constructor(settings: SessionRecorderSettings) {
    this.#settings = settings;
  }

  /** Record a segment, then report `fact` with its rows. Returns at once. */
  record(fact: ClosedFact, segments: readonly RenditionSegment[]): void {
    if (this.#queuedBytes > MAX_QUEUED_BYTES) this.#fail(fact, "the disk is too slow for the recording");
    if (this.#failed) return this.#settings.eventSink.report({ ...fact, recorded: [] });
    this.#queuedBytes += fact.bytes;
    for (const { segment } of segments) segment.hold();
    this.#enqueue(async () => {
      try {
        await this.#write(fact, segments);
      } catch (error) {
        this.#settings.log.error({ error, sessionId: fact.sessionId }, "a recording stopped");
        this.#fail(fact, `the recording could not be written: ${reasonOf(error)}`);
        this.#settings.eventSink.report({ ...fact, recorded: [] });
      } finally {
        for (const { segment } of segments) segment.letGo();
        this.#queuedBytes -= fact.bytes;
      }
    });
  }

  /** Resolves when everything recorded so far has been reported. */
  told(): Promise<void> {
    return this.#queue;
  }

  /** Seal what is open. Resolves when it is in the store and reported, or has failed. */
  finish(): Promise<void> {
    this.#enqueue(async () => {
      try {
        await this.#sealAll();
        // What is not yet known to the database stays in the journal for the next start.
        if (await this.#settings.eventSink.settle()) await rm(this.#settings.folder, { recursive: true, force: true });
      } catch (error) {
        // The spool keeps it: the next start seals what is there.
        this.#settings.log.error({ error, sessionId: this.#settings.sessionId }, "a recording could not be sealed yet");
      }
    });
    return this.#queue;
  }

  /** Close the files as they are; the next start seals what they hold. */
  async abandon(): Promise<void> {
    await this.#queue;
    await Promise.all([...this.#spans.values()].map((span) => span.abandon()));
    this.#spans.clear();
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task);
  }

  async #write(fact: ClosedFact, segments: readonly RenditionSegment[]): Promise<void> {
    if (fact.epoch !== this.#epoch) await this.#beginEpoch(fact);
    const recorded: RecordedSegment[] = [];
    for (const { rendition, segment } of segments) {
      const row = await this.#writeSegment(fact, rendition.name, segment);
      if (row) recorded.push(row);
    }
    const whole: SegmentClosed = { ...fact, recorded };
    await appendFile(join(this.#settings.folder, "journal.jsonl"), `${JSON.stringify(whole)}\n`);
    this.#rows.push(...recorded);
    this.#settings.eventSink.report(whole);
    for (const [rendition, span] of this.#spans) if (span.isFull) await this.#seal(rendition, span);
    if (this.#rows.length >= MAX_ROWS) await this.#sealRows();
  }

  async #beginEpoch(fact: ClosedFact): Promise<void> {
    await this.#sealAll();
    this.#epoch = fact.epoch;
    await mkdir(this.#settings.folder, { recursive: true });
  }

  /** Null for a gap of a rendition of which nothing is known yet. */
  async #writeSegment(fact: ClosedFact, rendition: string, segment: LiveSegment): Promise<RecordedSegment | null> {
    const { init, msn, programDateTimeMs, discontinuity } = segment;
    const track = this.#tracks.get(rendition) ?? (init && trackOf(init));
    if (!track) return null;
    this.#tracks.set(rendition, track);
    const place = {
      rendition,
      track,
      msn,
      epoch: fact.epoch,
      startTicks: rescale(segment.startTicks, segment.timescale, track.timescale),
      durationTicks: rescale(segment.durationTicks, segment.timescale, track.timescale),
      programDateTimeMs,
      discontinuity,
    };
    if (!init) return { ...place, gap: true, init: "", span: "", offset: 0, length: 0 };
    await this.#storeInit(rendition, init);
    const span = await this.#spanFor(rendition, fact.epoch, msn);
    const offset = await span.append(segment.parts.map(({ bytes }) => bytes));
    return { ...place, gap: false, init: init.name, span: span.name, offset, length: segment.bytes };
  }

  async #storeInit(rendition: string, init: InitSegment): Promise<void> {
    const { store, projectId, sessionId } = this.#settings;
    const key = recordingKey(projectId, sessionId, rendition, init.name);
    if (this.#storedInits.has(key)) return;
    await store.put(key, init.bytes);
    this.#storedInits.add(key);
  }

  async #spanFor(rendition: string, epoch: number, msn: number): Promise<SpanWriter> {
    const open = this.#spans.get(rendition);
    if (open) return open;
    const span = await SpanWriter.open(join(this.#settings.folder, rendition), epoch, msn, this.#settings.clock);
    this.#spans.set(rendition, span);
    return span;
  }

  async #sealAll(): Promise<void> {
    if (this.#failed) return;
    for (const [rendition, span] of this.#spans) await this.#seal(rendition, span);
    await this.#sealRows();
  }

  async #sealRows(): Promise<void> {
    const [first] = this.#rows;
    if (!first) return;
    const { store, projectId, sessionId } = this.#settings;
    const key = recordingIndexKey(projectId, sessionId, first.epoch, first.msn);
    await store.put(key, Buffer.from(JSON.stringify(this.#rows)));
    this.#rows = [];
  }

  async #seal(rendition: string, span: SpanWriter): Promise<void> {
    const { store, eventSink, clock, projectId, streamId, sessionId } = this.#settings;
    const { name, bytes, epoch } = span;
    this.#spans.delete(rendition);
    await span.seal(store, recordingKey(projectId, sessionId, rendition, name));
    eventSink.report({
      type: "span-sealed",
      streamId,
      epoch,
      at: clock.now(),
      sessionId,
      rendition,
      span: name,
      bytes,
    });
  }

  #fail({ streamId, epoch, sessionId }: ClosedFact, reason: string): void {
    if (this.#failed) return;
    this.#failed = true;
    for (const span of this.#spans.values()) void span.abandon();
    this.#spans.clear();
    this.#settings.eventSink.report({
      type: "recording-failed",
      streamId,
      epoch,
      at: this.#settings.clock.now(),
      sessionId,
      reason,
    });
  }
}

function trackOf({ track, timescale }: InitSegment): RecordingTrack {
  const { kind, codec, codecString } = track;
  const config = Buffer.from(track.config).toString("base64");
  const shape =
    kind === "video"
      ? { width: track.width, height: track.height }
      : { sampleRate: track.sampleRate, channels: track.channels };
  return { kind, codec, codecString, config, timescale, ...shape };
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" ? "no space left on the device" : (code ?? "an unexpected error");
}
