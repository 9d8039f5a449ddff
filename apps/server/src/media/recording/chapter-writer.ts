import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { AppendFile } from "../../platform/storage/append-file.ts";
import type { RecordedSegment, RungsRecorded, SegmentClosed } from "../../ports/index.ts";
import type { InitSegment, LiveSegment } from "../packaging/live-segment.ts";
import { storedBytesOf } from "../stored/live-rows.ts";
import { keyframeOf, NO_BYTES, SpanWriter } from "../stored/span-writer.ts";
import { initOfStoredTrack, storedTrackOf } from "../stored/stored-track.ts";
import { journalLines, type RecordedFact } from "./chapter-journal.ts";
import { type ChapterOwner, chapterFolder, JOURNAL_NAME } from "./spool-chapter.ts";
import type { SpoolDisk } from "./spool-disk.ts";

const FULL_MS = 30_000;

export type ClosedFact = Omit<SegmentClosed, "recorded"> | Omit<RungsRecorded, "recorded">;
/** A row and its segment. */
export interface SegmentToWrite {
  readonly row: Omit<RecordedSegment, "epoch" | "span" | "offset" | "length" | "gap">;
  readonly segment: LiveSegment;
}

/**
 * A chapter during writing: up to 30 s of one recording in its own folder, with a span for each rendition, the init segments that they need and
 * a journal of facts. It grows by whole segments, and is synced after the writes: a disk that cannot sync every segment syncs several at once,
 * and delays nobody.
 */
export class ChapterWriter {
  readonly folder: string;
  readonly epoch: number;
  readonly #disk: SpoolDisk;
  readonly #clock: Clock;
  readonly #startedAt: number;
  readonly #journal: AppendFile;
  readonly #journaled = new Set<string>();
  readonly #spans = new Map<string, { readonly span: SpanWriter; readonly file: AppendFile }>();
  readonly #inits = new Set<string>();
  /** Written once: synced, then closed. */
  readonly #newInits = new Set<AppendFile>();
  /** Folders with names that are not synced. */
  readonly #newNames: Set<string>;
  #segments = 0;
  #beganMs = Number.POSITIVE_INFINITY;
  #unsynced = false;
  /** Wait for what was written before the next sync begins. */
  #waiting: (() => void)[] = [];
  #syncing: Promise<void> | null = null;
  #syncError: unknown = null;

  private constructor(folder: string, epoch: number, journal: AppendFile, disk: SpoolDisk, clock: Clock) {
    this.folder = folder;
    this.epoch = epoch;
    this.#journal = journal;
    this.#disk = disk;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
    this.#newNames = new Set([disk.folder, folder]);
  }

  static async open(disk: SpoolDisk, owner: ChapterOwner, epoch: number, firstMsn: number, clock: Clock) {
    const folder = chapterFolder(disk.folder, owner, epoch, firstMsn);
    await disk.makeFolder(folder);
    try {
      return new ChapterWriter(folder, epoch, await disk.create(join(folder, JOURNAL_NAME)), disk, clock);
    } catch (error) {
      await rm(folder, { recursive: true, force: true }).catch(() => {});
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#segments === 0;
  }

  /** Program date-time of its first segment. */
  get beganMs(): number {
    return this.#beganMs;
  }

  get isFull(): boolean {
    const isLarge = [...this.#spans.values()].some(({ span }) => span.isFull);
    return isLarge || this.#clock.monotonic() - this.#startedAt >= FULL_MS;
  }

  /** Append a segment in all its renditions and return its fact. If that fails, nothing of the segment remains, and the chapter accepts no more. */
  async append(fact: ClosedFact, segments: readonly SegmentToWrite[]): Promise<RecordedFact> {
    if (this.#syncError) throw this.#syncError;
    const before = [...this.#files()].map((file) => ({ file, bytes: file.bytes }));
    try {
      const recorded: RecordedSegment[] = [];
      for (const each of segments) recorded.push(await this.#appendTo(each));
      const whole = { ...fact, recorded };
      const changed = segments.flatMap((each) => this.#changedInit(each));
      await this.#journal.append([Buffer.from(journalLines(whole, this.#journaled, changed))]);
      for (const { rendition, init } of changed) this.#journaled.add(`${rendition}/${init}`);
      for (const { rendition } of recorded) this.#journaled.add(rendition);
      this.#segments++;
      this.#beganMs = Math.min(this.#beganMs, ...recorded.map(({ programDateTimeMs }) => programDateTimeMs));
      this.#sync();
      return whole;
    } catch (error) {
      await Promise.allSettled(before.map(({ file, bytes }) => file.cut(bytes)));
      throw error;
    }
  }

  /** Resolves when everything appended so far is on the disk, or the disk has refused to sync it. */
  synced(): Promise<void> {
    if (!this.#syncing) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when all of it is on the disk and its files are closed. */
  async close(): Promise<void> {
    await this.#syncing;
    await Promise.allSettled([...this.#files()].map((file) => file.close()));
  }

  /** Close and delete it: nothing was written. */
  async remove(): Promise<void> {
    await this.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #appendTo({ row, segment }: SegmentToWrite): Promise<RecordedSegment> {
    const { init } = segment;
    if (!init) return { ...row, epoch: this.epoch, ...NO_BYTES };
    const { rendition } = row;
    const open = this.#spans.get(rendition);
    const span = open?.span ?? new SpanWriter(this.epoch);
    const bytes = storedBytesOf(segment);
    const picture = row.track.kind === "video" ? keyframeOf(row.isIndependent, bytes) : {};
    const placed = span.add({ ...row, ...picture }, bytes);
    const file = open?.file ?? (await this.#create(rendition, placed.span));
    this.#spans.set(rendition, { span, file });
    await this.#keepInit(rendition, init);
    await file.append(span.take());
    return placed;
  }

  /** The init segment and its track, if it is new to the journal and not the one of the row's track. */
  #changedInit({ row: { rendition, track }, segment: { init } }: SegmentToWrite) {
    if (!init || this.#journaled.has(`${rendition}/${init.name}`) || initOfStoredTrack(track, init.name)) return [];
    return [{ rendition, init: init.name, track: storedTrackOf(init) }];
  }

  async #keepInit(rendition: string, { name, bytes }: InitSegment): Promise<void> {
    const key = `${rendition}/${name}`;
    if (this.#inits.has(key)) return;
    const file = await this.#create(rendition, name);
    this.#newInits.add(file);
    await file.append([bytes]);
    this.#inits.add(key);
  }

  async #create(rendition: string, name: string): Promise<AppendFile> {
    const folder = join(this.folder, rendition);
    await this.#disk.makeFolder(folder);
    this.#newNames.add(this.folder).add(folder);
    return this.#disk.create(join(folder, name));
  }

  *#files(): Iterable<AppendFile> {
    yield this.#journal;
    for (const { file } of this.#spans.values()) yield file;
    yield* this.#newInits;
  }

  /** One sync at a time; everything written in the meantime goes with the next one. */
  #sync(): void {
    this.#unsynced = true;
    this.#syncing ??= this.#syncAll();
  }

  async #syncAll(): Promise<void> {
    let waiting: (() => void)[] = [];
    try {
      while (this.#unsynced) {
        this.#unsynced = false;
        waiting = this.#waiting;
        this.#waiting = [];
        for (const file of this.#newInits) {
          await this.#disk.sync(file);
          this.#newInits.delete(file);
          await file.close();
        }
        for (const { file } of this.#spans.values()) await this.#disk.sync(file);
        await this.#disk.sync(this.#journal);
        for (const folder of this.#newNames) {
          this.#newNames.delete(folder);
          await this.#disk.syncFolder(folder);
        }
        for (const resolve of waiting) resolve();
      }
    } catch (error) {
      this.#syncError = error;
    } finally {
      // In the same turn as the last check of `#unsynced`, so that no segment falls between two runs.
      this.#syncing = null;
      for (const resolve of [...waiting, ...this.#waiting]) resolve();
      this.#waiting = [];
    }
  }
}
