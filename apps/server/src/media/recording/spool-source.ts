import { constants, createReadStream } from "node:fs";
import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fillFromFile, isAbsent } from "../../platform/storage/fill.ts";
import { type ByteRange, ObjectNotFound } from "../../platform/storage/object-store.ts";
import type { RecordedSegment, StoredSegment } from "../../ports/index.ts";
import type { KeptSegments, MsnRange, SessionRendition } from "../stored/session-media.ts";
import { parseJournal } from "./chapter-journal.ts";
import { beginningOf, type ChapterPart, JOURNAL_NAME, sessionOf } from "./spool-chapter.ts";

/** Nobody but Weir makes the files of the spool, and Weir makes no links. */
const NO_LINK = constants.O_RDONLY | constants.O_NOFOLLOW;

/** The segments of a recorded session in the spool: in the open chapter, and in those that the object store does not have yet. */
export class SpoolSource implements KeptSegments {
  readonly place = "spool";
  readonly #spool: string;
  readonly #sessionId: string;
  /** As last seen. Chapters begin in order, and one that has left does not come back. */
  #seen: readonly string[] = [];

  constructor(spool: string, sessionId: string) {
    this.#spool = spool;
    this.#sessionId = sessionId;
  }

  /** All rows of the session that are here, in any order, those of a chapter at a time. */
  async *rows(): AsyncGenerator<readonly RecordedSegment[], void> {
    for (const folder of await this.#chapters()) yield await rowsOf(folder);
  }

  async segments(rendition: string, { first, last }: MsnRange): Promise<SessionRendition<StoredSegment> | null> {
    const rows: RecordedSegment[] = [];
    for await (const found of this.rows()) rows.push(...found.filter((row) => row.rendition === rendition));
    const [oldest] = rows.toSorted((a, b) => a.msn - b.msn);
    if (!oldest) return null;
    const segments = rows.filter(({ msn }) => msn >= first && msn <= last).toSorted((a, b) => a.msn - b.msn);
    return { track: oldest.track, segments: segments.map(({ rendition: _, track: __, ...segment }) => segment) };
  }

  async *read(
    rendition: string,
    { span, offset, length }: StoredSegment,
    range: ByteRange = { start: 0, end: length - 1 },
  ): AsyncGenerator<Uint8Array, void> {
    const part = { start: offset + range.start, end: offset + Math.min(range.end, length - 1) };
    for (const folder of await this.#chaptersFor(span)) {
      const path = join(folder, rendition, span);
      try {
        const fd = await open(path, NO_LINK);
        return yield* createReadStream(path, { ...part, fd }) as AsyncIterable<Buffer>;
      } catch (error) {
        // What was opened is read to its end.
        if (!isAbsent(error)) throw error;
        this.#hasMoved();
      }
    }
    throw new ObjectNotFound(`${rendition}/${span} in the spool`);
  }

  async fill(rendition: string, { span, offset }: StoredSegment, views: readonly Uint8Array[]): Promise<number | null> {
    for (const folder of await this.#chaptersFor(span)) {
      const bytes = await fillFromFile(join(folder, rendition, span), views, offset);
      if (bytes !== null) return bytes;
      this.#hasMoved();
    }
    return null;
  }

  async readInit(rendition: string, init: string): Promise<Uint8Array | null> {
    for (const folder of await this.#chapters()) {
      const bytes = await contentOf(join(folder, rendition, init));
      if (bytes) return bytes;
    }
    return null;
  }

  /** To another chapter, or to the object store. */
  #hasMoved(): void {
    this.#seen = [];
  }

  /** Where a span can be. Looks only for spans that are newer than all chapters seen: hundreds of viewers read those that have left. */
  async #chaptersFor(span: string): Promise<readonly string[]> {
    const place = placeOf(span);
    if (!this.#seen.some((folder) => isAfter(beginningOf(folder), place))) this.#seen = await this.#chapters();
    return newestBefore(this.#seen, place);
  }

  async #chapters(): Promise<string[]> {
    const names = await readdir(this.#spool).catch(noneIfAbsent);
    return names.filter((name) => sessionOf(name) === this.#sessionId).map((name) => join(this.#spool, name));
  }
}

/** Where in a session something begins. Each publisher of a session has an epoch, which is higher than those before. */
interface Place {
  readonly epoch: number;
  readonly firstMsn: number;
}

function placeOf(span: string): Place {
  const [epoch = 0, firstMsn = 0] = span.split(/[-.]/, 2).map(Number);
  return { epoch, firstMsn };
}

const isAfter = (one: Place, other: Place): boolean =>
  one.epoch === other.epoch ? one.firstMsn > other.firstMsn : one.epoch > other.epoch;

/** The chapter of its epoch and part that is the last to begin there or before. A day has thousands of others. */
function newestBefore(folders: readonly string[], place: Place): readonly string[] {
  const newest = new Map<ChapterPart, { readonly folder: string; readonly firstMsn: number }>();
  for (const folder of folders) {
    const beginning = beginningOf(folder);
    if (beginning.epoch !== place.epoch || isAfter(beginning, place)) continue;
    if (beginning.firstMsn >= (newest.get(beginning.part)?.firstMsn ?? 0))
      newest.set(beginning.part, { folder, firstMsn: beginning.firstMsn });
  }
  return [...newest.values()].map(({ folder }) => folder);
}

async function rowsOf(folder: string): Promise<readonly RecordedSegment[]> {
  const { facts } = parseJournal((await contentOf(join(folder, JOURNAL_NAME)))?.toString() ?? "");
  return facts.flatMap(({ recorded }) => recorded);
}

/** Null for a file that does not exist. */
async function contentOf(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path, { flag: NO_LINK });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

function noneIfAbsent(error: unknown): string[] {
  if (isAbsent(error)) return [];
  throw error;
}
