import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../platform/log.ts";
import { beginningOf, type ChapterOwner } from "./spool-chapter.ts";

export interface KeptUntil {
  /** Number of the oldest segment that may be asked for. */
  readonly oldestServed: number;
}

export interface KeptChaptersSettings {
  readonly log: Log;
  /** Of the session. */
  readonly folder: string;
  readonly part: ChapterOwner["part"];
  readonly dvr: KeptUntil;
}

/** Where the recorder of a session that is not recorded gives its closed chapters: they stay until viewers cannot ask for them any more. Where recordings have a `SpanSealer`, whose chapters go to the object store. */
export class KeptChapters {
  readonly #settings: KeptChaptersSettings;
  #deleting: Promise<void> = Promise.resolve();

  constructor(settings: KeptChaptersSettings) {
    this.#settings = settings;
  }

  /** A chapter is closed. Deletes those that are over. Returns at once. */
  add(): void {
    this.#deleting = this.#deleting.then(() => this.#deleteOver());
  }

  /** Resolves when what is over is deleted. */
  settled(): Promise<void> {
    return this.#deleting;
  }

  async #deleteOver(): Promise<void> {
    const { log, folder, part, dvr } = this.#settings;
    try {
      const chapters = (await readdir(folder))
        .map((name) => ({ name, ...beginningOf(name) }))
        .filter((chapter) => chapter.part === part)
        .toSorted((a, b) => a.firstMsn - b.firstMsn);
      // A chapter is over when the one after it has the oldest segment that may be asked for.
      const over = chapters.filter((_, index) => (chapters[index + 1]?.firstMsn ?? Infinity) <= dvr.oldestServed);
      for (const { name } of over) await rm(join(folder, name), { recursive: true, force: true });
    } catch (error) {
      log.warn({ err: error, folder }, "could not delete what viewers cannot go back to any more; retrying");
    }
  }
}
