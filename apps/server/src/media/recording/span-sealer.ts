import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import { isDiskAway } from "../../platform/storage/disk-failed.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { type EventSink, type MediaFact, recordingPrefix } from "../../ports/index.ts";
import { placeName } from "../stored/layout.ts";
import { reportInBatches } from "./report-in-batches.ts";
import { readChapter, type SpoolChapter, type SpoolSpan, type StoredSpanBytes, sessionOf } from "./spool-chapter.ts";
import { spooledFacts } from "./spooled-facts.ts";

/** Chapters stored at a time. */
const MAX_AT_ONCE = 4;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
const REPORT_SPOOLED_MS = 60_000;
const CLOSE_WITHIN_MS = 1_000;
/** A recording does not wait longer for a chapter that the disk cannot read. */
const UNREADABLE_MS = 3_600_000;
/** As `lostBefore`, of a chapter that an earlier run left and of which nothing was reported yet. */
export const FROM_EARLIER_RUN = -1;

export interface SpanSealerSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly eventSink: EventSink;
}

interface WaitingChapter {
  readonly folder: string;
  /** Number of facts lost before its first fact was reported. */
  readonly lostBefore: number;
}

/**
 * Moves closed chapters from the spool to the object store, for all recordings of this node. A chapter leaves the spool once its objects are
 * durable and the database knows them; until then the sealer retries with growing waits. The spool's space bounds the queue, in which a chapter
 * is only the name of its folder.
 */
export class SpanSealer {
  readonly #settings: SpanSealerSettings;
  readonly #backOff = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
  #waiting: WaitingChapter[] = [];
  /** Chapters that are not sealed yet, by their folders, and when they are. */
  readonly #sealed = new Map<string, PromiseWithResolvers<void>>();
  /** Chapters that the disk cannot read, by their folders, and since when. They hold up no others. */
  readonly #unreadable = new Map<string, { readonly since: number; readonly again: Timer }>();
  readonly #reporting: Timer;
  readonly #running = new Set<Promise<void>>();
  #pause: Timer | null = null;
  #isClosed = false;
  #closed: Promise<void> | null = null;
  readonly #closing = Promise.withResolvers<void>();
  /** Chapters in the store whose facts the database has not accepted. */
  #unreported = 0;
  #whenSettled: (() => void)[] = [];

  constructor(settings: SpanSealerSettings) {
    this.#settings = settings;
    const { clock, eventSink } = settings;
    this.#reporting = clock.every(REPORT_SPOOLED_MS, () => {
      for (const fact of spooledFacts(this.#sealed.keys(), clock.now())) eventSink.report(fact);
    });
  }

  /** Chapters that are not sealed yet. */
  get waiting(): number {
    return this.#waiting.length + this.#running.size + this.#unreadable.size;
  }

  /** Seal the complete chapter in this folder. Its journal is reported again if the event sink lost facts after `lostBefore`. Returns at once. */
  add(folder: string, lostBefore: number): void {
    this.#sealed.set(folder, Promise.withResolvers());
    this.#waiting.push({ folder, lostBefore });
    this.#startNext();
  }

  /** When the chapters of a session that wait now are in the object store and the database knows; null if there are none. */
  sealed(sessionId: string): Promise<unknown> | null {
    const own = [...this.#sealed].filter(([folder]) => sessionOf(folder) === sessionId);
    return own.length > 0 ? Promise.all(own.map(([, { promise }]) => promise)) : null;
  }

  /** Resolves when everything is sealed, or must wait after a failed attempt. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenSettled.push(resolve);
      this.#noteSettled();
    });
  }

  /** Begin nothing more; idempotent. A running put may end within a second; otherwise it is repeated after the next start, which seals the rest of the spool. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.resolve();
    this.#pause?.cancel();
    for (const { again } of this.#unreadable.values()) again.cancel();
    this.#reporting.cancel();
    await Promise.race([Promise.all(this.#running), sleep(this.#settings.clock, CLOSE_WITHIN_MS)]);
  }

  #startNext(): void {
    while (!this.#isClosed && !this.#pause && this.#running.size < MAX_AT_ONCE) {
      const chapter = this.#waiting.shift();
      if (!chapter) break;
      const run = this.#attempt(chapter).finally(() => {
        this.#running.delete(run);
        this.#startNext();
      });
      this.#running.add(run);
    }
    this.#noteSettled();
  }

  async #attempt(chapter: WaitingChapter): Promise<void> {
    const { log, clock } = this.#settings;
    try {
      await this.#seal(chapter);
      this.#backOff.reset();
      this.#unreadable.delete(chapter.folder);
    } catch (error) {
      if (error instanceof UnreadableChapter) return this.#readLater(chapter, error);
      this.#waiting.push(chapter);
      this.#unreadable.delete(chapter.folder);
      // The store is unavailable for all of them.
      if (this.#pause || this.#isClosed) return;
      const ms = this.#backOff.next();
      log.warn({ err: error, waiting: this.#waiting.length, ms }, "recordings wait for the object store; retrying");
      this.#pause = clock.after(ms, () => {
        this.#pause = null;
        this.#startNext();
      });
    }
  }

  /** A disk may read it again, but nobody waits for it for ever: after an hour, the next start looks again. */
  #readLater(chapter: WaitingChapter, error: unknown): void {
    if (this.#isClosed) return;
    const { log, clock } = this.#settings;
    const { folder } = chapter;
    const since = this.#unreadable.get(folder)?.since ?? clock.monotonic();
    const isGivenUp = clock.monotonic() - since > UNREADABLE_MS;
    log.error({ err: error, folder, isGivenUp }, "a recording in the spool cannot be read");
    if (isGivenUp) {
      this.#unreadable.delete(folder);
      this.#sealed.get(folder)?.resolve();
      this.#sealed.delete(folder);
      return;
    }
    const again = clock.after(MAX_RETRY_MS, () => {
      this.#waiting.push(chapter);
      this.#startNext();
    });
    this.#unreadable.set(folder, { since, again });
  }

  async #seal({ folder, lostBefore }: WaitingChapter): Promise<void> {
    const { clock, eventSink, store } = this.#settings;
    const storedBytes: StoredSpanBytes = ({ projectId, sessionId }, rendition, span) =>
      store.size(`${recordingPrefix(projectId, sessionId)}${rendition}/${span}`);
    const chapter = await readChapter(folder, storedBytes).catch((error: unknown) => {
      throw isOfDisk(error) ? new UnreadableChapter("the disk cannot read it", { cause: error }) : error;
    });
    if (chapter) {
      const spans = await this.#put(chapter);
      const damage = lostBefore === FROM_EARLIER_RUN ? damageFact(chapter, clock.now()) : [];
      const facts = [...damage, ...spans.map((span) => this.#sealedFact(chapter, span))];
      const wait = new BackOff(FIRST_RETRY_MS, MAX_RETRY_MS);
      for (;;) {
        const { lost } = eventSink;
        const all = lost > lostBefore ? [...chapter.facts, ...facts] : facts;
        if ((await reportInBatches(eventSink, all)) && eventSink.lost === lost) break;
        if (this.#isClosed) throw new Error("closed before the database knew of the chapter");
        this.#unreported++;
        this.#noteSettled();
        await Promise.race([sleep(clock, wait.next()), this.#closing.promise]);
        this.#unreported--;
      }
    }
    await rm(folder, { recursive: true, force: true });
    this.#sealed.get(folder)?.resolve();
    this.#sealed.delete(folder);
  }

  /** Returns the spans with the sizes of what can be played of them. */
  async #put({ folder, projectId, sessionId, part, epoch, firstMsn, inits, spans, journal }: SpoolChapter) {
    const { store } = this.#settings;
    const prefix = recordingPrefix(projectId, sessionId);
    for (const { rendition, init, bytes } of inits) {
      const key = `${prefix}${rendition}/${init}`;
      // Most chapters have the same one. These bytes are those of its name, so a stored one of another size is damaged.
      if ((await store.size(key)) !== bytes.byteLength) await store.put(key, bytes);
    }
    const stored: SpoolSpan[] = [];
    for (const span of spans) {
      const { rendition, bytes, fileBytes } = span;
      const key = `${prefix}${rendition}/${span.span}`;
      const put = () => store.putFile(key, join(folder, rendition, span.span));
      const more = await this.#putUnlessMore(key, bytes > 0 ? fileBytes : 0, put);
      stored.push({ ...span, bytes: more ?? bytes });
    }
    // The journals can rebuild an index without the database.
    const index = part === "rungs" ? "index-rungs" : "index";
    const bytes = Buffer.from(journal);
    const key = `${prefix}${index}-${placeName(epoch, firstMsn)}.jsonl`;
    await this.#putUnlessMore(key, bytes.byteLength, () => store.put(key, bytes));
    return stored;
  }

  /**
   * Put what only grows at its end, unless the store has more of it: a disk that failed while the chapter was stored can have it again after a
   * restart, but less of it. Returns the size of the object that stays; null if there is none.
   */
  async #putUnlessMore(key: string, bytes: number, put: () => Promise<unknown>): Promise<number | null> {
    const stored = (await this.#settings.store.size(key)) ?? 0;
    if (stored > bytes) return stored;
    // As much of it may be from a put that failed at its end.
    if (bytes > 0) await put();
    return null;
  }

  #sealedFact({ streamId, sessionId }: SpoolChapter, { rendition, span, epoch, bytes }: SpoolSpan): MediaFact {
    return { type: "span-sealed", streamId, epoch, at: this.#settings.clock.now(), sessionId, rendition, span, bytes };
  }

  #noteSettled(): void {
    const isIdle = this.#waiting.length === 0 && this.#running.size === 0;
    if (!isIdle && !this.#pause && !this.#isClosed && this.#unreported === 0) return;
    for (const resolve of this.#whenSettled) resolve();
    this.#whenSettled = [];
  }
}

/** Of what failed, only this is the chapter's: a store in a folder of the machine fails with errors of the disk, too, and is waited for. */
class UnreadableChapter extends Error {}

/** A file could not be read, and not because the disk takes no more: that passes. */
function isOfDisk(error: unknown): boolean {
  return (
    !(error instanceof StoreFailed) && !isDiskAway(error) && typeof (error as { code?: unknown }).code === "string"
  );
}

/** A line cut off when the process died describes a segment that nobody was promised. Only lost segments are reported. */
function damageFact({ streamId, sessionId, epoch, damage }: SpoolChapter, at: number): MediaFact[] {
  if (damage.segments === 0) return [];
  const segments = damage.segments === 1 ? "one segment was" : `${damage.segments} segments were`;
  const reason = `part of the recording is missing: ${segments} damaged on the disk when the server stopped`;
  return [{ type: "recording-failed", streamId, epoch, at, sessionId, reason }];
}
