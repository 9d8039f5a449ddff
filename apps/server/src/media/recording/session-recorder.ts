import { BackOff, sleep } from "../../platform/retry.ts";
import { NoRoom } from "../../platform/storage/disk-failed.ts";
import type { EventSink, MediaFact, RecordedSegment, StoredTrack } from "../../ports/index.ts";
import type { RenditionSegment } from "../packaging/segment-ledger.ts";
import { storedRowOf } from "../stored/live-rows.ts";
import { storedTrackOf } from "../stored/stored-track.ts";
import type { RecordedFact } from "./chapter-journal.ts";
import { ChapterWriter, type ClosedFact, type SegmentToWrite } from "./chapter-writer.ts";
import type { SpanSealer, SpanSealerSettings } from "./span-sealer.ts";
import type { ChapterOwner } from "./spool-chapter.ts";
import { RESERVED_BYTES, RESUME_BYTES, type SpoolDisk } from "./spool-disk.ts";

/** Segments kept in memory while the disk is slow. Beyond this, segments are omitted from the recording; the broadcast continues. */
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
/** Faults that pass by themselves: too many open files, no memory for them, a disk that recovers. */
const PASSING = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM", "EINTR", "EBUSY", "EIO"]);
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;
/** A disk that takes longer to sync delays no fact any more: the end of a broadcast waits for the facts of its segments. */
const MAX_SYNC_MS = 5_000;
/** A segment that cannot be written for this long is omitted. */
const RETRY_MS = 30_000;

/** Rungs are recorded separately, because they arrive some seconds later. */
export interface SessionRecorderSettings extends Omit<SpanSealerSettings, "store" | "eventSink">, ChapterOwner {
  readonly eventSink: Pick<EventSink, "report" | "lost">;
  readonly disk: SpoolDisk;
  readonly sealer: Pick<SpanSealer, "add">;
  /** Where segments are now, as soon as they are written. */
  readonly onWritten?: (rows: readonly RecordedSegment[]) => void;
}

/**
 * Records one session: each closed segment goes to the open chapter in the spool, its row to the chapter's journal, then, once the disk has both, the
 * fact to the event sink. So after a power cut the database knows of no media that the disk never had. A full chapter goes to the sealer. After a crash the journals describe the contents of the spool. Everything runs on one
 * queue, off the live path. A segment that cannot be written is omitted, and the recording continues with the next one that can.
 */
export class SessionRecorder {
  readonly #settings: SessionRecorderSettings;
  /** The first track of each rendition; its rows use this timescale. */
  readonly #tracks = new Map<string, StoredTrack>();
  #chapter: ChapterWriter | null = null;
  #lostBefore = 0;
  /** Chapters whose last bytes are being synced. */
  readonly #closing = new Set<Promise<void>>();
  #queue: Promise<void> = Promise.resolve();
  /** Resolves when all facts so far are reported. They wait for syncs, but nothing waits for them. */
  #reported: Promise<void> = Promise.resolve();
  #queuedBytes = 0;
  #isInterrupted = false;
  #isAbandoned = false;

  constructor(settings: SessionRecorderSettings) {
    this.#settings = settings;
  }

  /** Record a segment, then report `fact` with its rows. Returns at once. */
  record(fact: ClosedFact, segments: readonly RenditionSegment[]): void {
    if (this.#queuedBytes > MAX_QUEUED_BYTES) return this.#leaveOut(fact, "the disk is too slow");
    this.#queuedBytes += fact.bytes;
    for (const { segment } of segments) segment.retain();
    this.#enqueue(async () => {
      try {
        await this.#recordNow(fact, segments);
      } finally {
        for (const { segment } of segments) segment.release();
        this.#queuedBytes -= fact.bytes;
      }
    });
  }

  /** Resolves when everything recorded so far has been reported. */
  async flushed(): Promise<void> {
    await this.#queue;
    await this.#reported;
  }

  /**
   * Resolves when everything recorded is with the sealer, or what was recorded of before a program date-time. The open chapter is closed only if it has
   * any of that; the recording continues in another one.
   */
  async finish(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#enqueue(async () => {
      if (this.#chapter && this.#chapter.beganMs < untilMs) await this.#closeChapter();
    });
    await this.#queue;
    await Promise.all(this.#closing);
    await this.#reported;
  }

  /** Close the files as they are; the next start seals their contents, and reports what was not reported. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true;
    await this.#queue;
    await Promise.all([this.#chapter?.close(), ...this.#closing]);
    this.#chapter = null;
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task);
  }

  async #recordNow(fact: ClosedFact, segments: readonly RenditionSegment[]): Promise<void> {
    const { disk, log, sessionId } = this.#settings;
    let whole: RecordedFact;
    try {
      if (disk.freeBytes() < (this.#isInterrupted ? RESUME_BYTES : RESERVED_BYTES))
        throw new NoRoom("recordings leave the rest of the disk to the database");
      whole = await this.#write(fact, segments);
    } catch (error) {
      await this.#closeChapter();
      return this.#leaveOut(fact, reasonOf(error), error);
    }
    if (this.#isInterrupted && this.#queuedBytes < MAX_QUEUED_BYTES / 2) {
      log.info({ sessionId }, "recording resumed");
      this.#isInterrupted = false;
    }
    this.#settings.onWritten?.(whole.recorded);
    this.#report(whole, this.#chapter?.synced());
    if (this.#chapter?.isFull) await this.#closeChapter();
  }

  /** In order; a recorded segment when the disk has it. */
  #report(fact: MediaFact, synced?: Promise<void>): void {
    const before = this.#reported;
    const due = synced && this.#soon(synced);
    const report = async (): Promise<void> => {
      await before;
      await due;
      if (!this.#isAbandoned) this.#settings.eventSink.report(fact);
    };
    this.#reported = report();
  }

  #soon(synced: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const deadline = this.#settings.clock.after(MAX_SYNC_MS, resolve);
      void synced.then(() => {
        deadline.cancel();
        resolve();
      });
    });
  }

  /** Write a segment. After a failed write the chapter is closed, and the segment goes to a new one as soon as that is writable. */
  async #write(fact: ClosedFact, segments: readonly RenditionSegment[]): Promise<RecordedFact> {
    const { clock, log, sessionId } = this.#settings;
    const backOff = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
    const until = clock.monotonic() + RETRY_MS;
    const rows = segments.flatMap((each) => this.#rowOf(each));
    const msn = rows[0]?.row.msn ?? 0;
    for (;;) {
      try {
        if (this.#chapter?.epoch !== fact.epoch) await this.#closeChapter();
        this.#chapter ??= await this.#openChapter(fact.epoch, msn);
        return await this.#chapter.append(fact, rows);
      } catch (error) {
        await this.#closeChapter();
        const { code = "" } = error as NodeJS.ErrnoException;
        if (!PASSING.has(code) || clock.monotonic() >= until || this.#isAbandoned) throw error;
        const ms = backOff.next();
        if (ms === FIRST_RETRY_MS) log.warn({ err: error, sessionId }, "could not record a segment; retrying");
        await sleep(clock, ms);
      }
    }
  }

  #openChapter(epoch: number, msn: number): Promise<ChapterWriter> {
    const { disk, clock, eventSink } = this.#settings;
    this.#lostBefore = eventSink.lost;
    return ChapterWriter.open(disk, this.#settings, epoch, msn, clock);
  }

  /** Give the open chapter to the sealer once it is synced; the queue does not wait for that. */
  async #closeChapter(): Promise<void> {
    const chapter = this.#chapter;
    const lostBefore = this.#lostBefore;
    this.#chapter = null;
    if (!chapter) return;
    // Another attempt at the same segment creates a folder of the same name.
    if (chapter.isEmpty) return chapter.remove().catch(() => {});
    const closing = Promise.all([chapter.close(), this.#reported]).then(() => {
      this.#settings.sealer.add(chapter.folder, lostBefore);
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
  }

  /** Nothing for a gap of a rendition about which nothing is known yet. */
  #rowOf({ rendition: { name: rendition }, segment }: RenditionSegment): SegmentToWrite[] {
    const { init } = segment;
    const track = this.#tracks.get(rendition) ?? (init && storedTrackOf(init));
    if (!track) return [];
    this.#tracks.set(rendition, track);
    return [{ row: { rendition, track, ...storedRowOf(segment, track) }, segment }];
  }

  /** Report a segment missing from the recording, with the reason, once until the recording continues. */
  #leaveOut(fact: ClosedFact, why: string, error?: unknown): void {
    const { clock, log } = this.#settings;
    const { streamId, epoch, sessionId, type } = fact;
    if (type === "segment-closed") this.#report({ ...fact, recorded: [] });
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    log.error({ err: error, sessionId, why, part: this.#settings.part }, "recording interrupted");
    // Without a rung the recording is complete, and plays in its other qualities.
    if (type === "rungs-recorded") return;
    const reason = `part of the recording is missing: ${why}`;
    this.#report({ type: "recording-failed", streamId, epoch, at: clock.now(), sessionId, reason });
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC"
    ? "no space was left on the disk"
    : `it could not be written (${code ?? "an unexpected error"})`;
}
