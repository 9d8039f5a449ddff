import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { RecordedSegment } from "../../ports/index.ts";
import { placeName } from "../stored/layout.ts";
import { NO_BYTES } from "../stored/span-writer.ts";
import { parseJournal, type RecordedFact } from "./chapter-journal.ts";
import { type SpoolInit, wholeInits } from "./spool-inits.ts";

export const JOURNAL_NAME = "journal.jsonl";

export interface ChapterOwner {
  readonly projectId: string;
  readonly sessionId: string;
  readonly streamId: string;
  /** Chapters of rungs lie next to those of the source, and may begin with the same segment. */
  readonly part: ChapterPart;
}

export type ChapterPart = "source" | "rungs";

/** A chapter's folder in the spool: its name holds everything needed to seal it. */
export function chapterFolder(spool: string, owner: ChapterOwner, epoch: number, firstMsn: number): string {
  const place = placeName(epoch, firstMsn);
  const part = owner.part === "rungs" ? [owner.part] : [];
  return join(spool, [owner.projectId, owner.sessionId, owner.streamId, place, ...part].join("."));
}

/** Where a chapter begins, and what of a session it is of, by the name of its folder. */
export function beginningOf(folder: string): Pick<SpoolChapter, "epoch" | "firstMsn" | "part"> {
  const [, , , place = "", part = "source"] = basename(folder).split(".");
  const [epoch = 0, firstMsn = 0] = numbersOf(place);
  return { epoch, firstMsn, part: part === "rungs" ? part : "source" };
}

/** The session of the chapter in this folder. */
export function sessionOf(folder: string): string | undefined {
  return basename(folder).split(".")[1];
}

export interface SpoolSpan {
  readonly rendition: string;
  readonly span: string;
  readonly epoch: number;
  /** The size of what can be played: 0 for a file that the journal names and that does not exist, less than the file's for a lost init segment. */
  readonly bytes: number;
  /** The size of its file; 0 without one. */
  readonly fileBytes: number;
}

/** A chapter in the spool, without its damaged parts. */
export interface SpoolChapter extends ChapterOwner {
  readonly folder: string;
  readonly epoch: number;
  readonly firstMsn: number;
  /** Facts of the journal whose bytes exist; a row without bytes is a gap. */
  readonly facts: readonly RecordedFact[];
  readonly journal: string;
  readonly spans: readonly SpoolSpan[];
  readonly inits: readonly SpoolInit[];
  readonly damage: {
    readonly journalBytes: number;
    readonly segments: number;
    readonly missingSpans: number;
    readonly lostInits: number;
  };
}

/** Bytes that the object store has of a span of a chapter; null for none. */
export type StoredSpanBytes = (chapter: ChapterOwner, rendition: string, span: string) => Promise<number | null>;

/**
 * Read a chapter's folder; null if it holds nothing that can be sealed. With `storedBytes`, what the disk lost of a span that was stored before is not
 * missing.
 */
export async function readChapter(folder: string, storedBytes?: StoredSpanBytes): Promise<SpoolChapter | null> {
  const journal = parseJournal(await textOf(join(folder, JOURNAL_NAME)));
  const [first] = journal.facts;
  const [projectId, sessionId, streamId = first?.streamId, place = "", named = ""] = basename(folder).split(".");
  const found = await filesOf(folder);
  if (!projectId || !sessionId || !streamId) {
    if (found.some(({ bytes }) => bytes > 0)) throw new Error("neither its name nor its journal tells whose it is");
    return null;
  }
  const known = new Map(
    found.filter(({ file }) => file.endsWith(".m4s")).map((file) => [pathOf(file.rendition, file.file), file.bytes]),
  );
  const fileBytes = new Map(known);
  const rows = journal.facts.flatMap(({ recorded }) => recorded).filter(({ gap }) => !gap);
  const missing = new Set(
    rows.map(({ rendition, span }) => pathOf(rendition, span)).filter((path) => !known.has(path)),
  );
  const missingSpans = missing.size;
  for (const path of missing) known.set(path, 0);
  const part = named === "rungs" ? named : "source";
  const owner: ChapterOwner = { projectId, sessionId, streamId, part };
  const short = new Map(
    rows
      .filter(({ rendition, span, offset, length }) => offset + length > (known.get(pathOf(rendition, span)) ?? 0))
      .map(({ rendition, span }) => [pathOf(rendition, span), { rendition, span }] as const),
  );
  for (const [path, { rendition, span }] of storedBytes ? short : []) {
    const stored = await storedBytes?.(owner, rendition, span);
    known.set(path, Math.max(known.get(path) ?? 0, stored ?? 0));
  }
  const inits = await wholeInits(folder, rows, journal.tracks);
  const whole = new Set(inits.map(({ rendition, init }) => pathOf(rendition, init)));
  // Nothing from the first segment on that no decoder can read.
  const unreadable = rows.filter(({ rendition, init }) => !whole.has(pathOf(rendition, init)));
  for (const { rendition, span, offset } of unreadable) {
    const path = pathOf(rendition, span);
    known.set(path, Math.min(offset, known.get(path) ?? 0));
    missing.add(path);
  }
  const isThere = ({ rendition, span, offset, length }: RecordedSegment) =>
    offset + length <= (known.get(pathOf(rendition, span)) ?? 0);
  const facts = journal.facts.map((fact) => ({
    ...fact,
    recorded: fact.recorded.map((row) => (row.gap || isThere(row) ? row : gapOf(row))),
  }));
  const spans = [...known]
    .map(([path, bytes]) => spanOf(path, bytes, fileBytes.get(path) ?? 0))
    .filter(({ bytes, rendition, span }) => bytes > 0 || missing.has(pathOf(rendition, span)));
  if (spans.length === 0) return null;
  const [epoch = 0, firstMsn = 0] = place ? numbersOf(place) : [first?.epoch, first?.recorded[0]?.msn];
  return {
    ...{ folder, ...owner, epoch, firstMsn },
    facts: facts.filter(({ recorded }) => recorded.some(({ gap }) => !gap)),
    journal: journal.text,
    spans,
    inits,
    damage: {
      journalBytes: journal.damagedBytes,
      segments: rows.filter((row) => !isThere(row)).length,
      missingSpans,
      lostInits: new Set(unreadable.map(({ rendition, init }) => pathOf(rendition, init))).size,
    },
  };
}

function pathOf(rendition: string, file: string): string {
  return `${rendition}/${file}`;
}

function spanOf(path: string, bytes: number, fileBytes: number): SpoolSpan {
  const [rendition = "", span = ""] = path.split("/");
  const [epoch = 0] = numbersOf(span);
  return { rendition, span, epoch, bytes, fileBytes };
}

function numbersOf(place: string): number[] {
  return place.split("-").map((number) => Number.parseInt(number, 10));
}

function gapOf(row: RecordedSegment): RecordedSegment {
  return { ...row, ...NO_BYTES };
}

async function filesOf(folder: string): Promise<{ rendition: string; file: string; bytes: number }[]> {
  const files: { rendition: string; file: string; bytes: number }[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    for (const file of await readdir(join(folder, entry.name))) {
      const { size } = await stat(join(folder, entry.name, file));
      files.push({ rendition: entry.name, file, bytes: size });
    }
  }
  return files;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
