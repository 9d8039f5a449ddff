import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { EventSink, RecordedSegment } from "../../ports/index.ts";
import { KeptChapters, type KeptUntil } from "./kept-chapters.ts";
import { SessionRecorder } from "./session-recorder.ts";
import type { ChapterOwner } from "./spool-chapter.ts";
import { SpoolDisk, type SpoolDiskSettings } from "./spool-disk.ts";
import { SpoolSource } from "./spool-source.ts";

const SWEEP_MS = 60_000;
/** Of a folder that is being deleted: nothing is written there again. */
const GONE = ".gone";

/** The list that viewers go back by. */
interface DvrRows extends KeptUntil {
  recorded(rows: readonly RecordedSegment[]): void;
}

export interface DvrSpoolSettings extends SpoolDiskSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly eventSink: EventSink;
  /** Whether this node has the session. */
  readonly isHeld: (sessionId: string) => boolean;
  /** How long after a start a session of before may still go on. */
  readonly resumeMs: number;
}

/**
 * What viewers can go back to in sessions that are not recorded: chapters on this node's disk, in a folder for each session. They are as those of a
 * recording, and written by the same recorder, but never reach the object store or the database. A chapter is deleted when its last segment can no longer be asked for, and the
 * folder when the session is over, or does not go on after a restart.
 */
export class DvrSpool {
  readonly #settings: DvrSpoolSettings;
  readonly #disk: SpoolDisk;
  readonly #sweeping: Timer;
  readonly #startedAt: number;
  #sweep: Promise<void> = Promise.resolve();

  constructor(settings: DvrSpoolSettings) {
    const { clock } = settings;
    this.#settings = settings;
    this.#disk = new SpoolDisk(settings);
    this.#startedAt = clock.monotonic();
    this.#sweeping = clock.every(SWEEP_MS, () => {
      this.#sweep = this.#sweep.then(() => this.#removeOver());
    });
  }

  /** To be awaited before anything is published. */
  start(): Promise<void> {
    return this.#disk.makeFolder(this.#disk.folder);
  }

  source(sessionId: string): SpoolSource {
    return new SpoolSource(this.#folderOf(sessionId), sessionId);
  }

  /** Keeps what a session that is not recorded shows. Its facts have no rows. */
  recorder(owner: ChapterOwner, dvr: DvrRows): SessionRecorder {
    const { clock, log, eventSink } = this.#settings;
    const chapters = new KeptChapters({ log, folder: this.#folderOf(owner.sessionId), part: owner.part, dvr });
    return new SessionRecorder({
      ...{ clock, log, ...owner },
      disk: this.#disk.within(owner.sessionId),
      sealer: chapters,
      eventSink: withoutRows(eventSink),
      onWritten: (rows) => dvr.recorded(rows),
    });
  }

  async close(): Promise<void> {
    this.#sweeping.cancel();
    await this.#sweep;
  }

  #folderOf(sessionId: string): string {
    return join(this.#disk.folder, sessionId);
  }

  /** Deletes what is left of sessions that are over. Never rejects. */
  async #removeOver(): Promise<void> {
    const { clock, isHeld, resumeMs } = this.#settings;
    const isEarly = clock.monotonic() - this.#startedAt < resumeMs;
    const names = await readdir(this.#disk.folder).catch((error: unknown) => this.#couldNot(error, this.#disk.folder));
    for (const name of names ?? []) {
      if (!name.endsWith(GONE) && (isEarly || isHeld(name))) continue;
      await this.#remove(name).catch((error: unknown) => this.#couldNot(error, this.#folderOf(name)));
    }
  }

  async #remove(name: string): Promise<void> {
    const gone = name.endsWith(GONE) ? name : `${name}${GONE}`;
    if (gone !== name) await rename(this.#folderOf(name), this.#folderOf(gone));
    await rm(this.#folderOf(gone), { recursive: true, force: true });
  }

  /** One that cannot be deleted holds up no others. */
  #couldNot(error: unknown, folder: string): void {
    this.#settings.log.warn({ err: error, folder }, "could not delete what viewers could go back to; retrying");
  }
}

/** A session that is not recorded has no rows in the database, and its recording cannot fail. */
function withoutRows(eventSink: EventSink): Pick<EventSink, "report" | "lost"> {
  return {
    report: (fact) => {
      if (fact.type === "segment-closed") eventSink.report({ ...fact, recorded: [] });
    },
    get lost() {
      return eventSink.lost;
    },
  };
}
