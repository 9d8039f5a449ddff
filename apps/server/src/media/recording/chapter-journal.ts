import type { RecordedSegment, RungsRecorded, SegmentClosed, StoredTrack } from "../../ports/index.ts";

/**
 * The journal of a chapter, one JSON value per line: `{rendition, track}` before the first row of a rendition, then the facts, whose rows omit
 * their track. `{rendition, init, track}` comes before the first row of an init segment that is not the one of the rendition's track, because the source
 * changed. A line counts if it is complete and ends with a newline; everything after the first bad line is ignored.
 */
export interface ChapterJournal {
  readonly facts: readonly RecordedFact[];
  /** What the lines say of the tracks of each rendition's init segments. */
  readonly tracks: ReadonlyMap<string, readonly StoredTrack[]>;
  /** The valid lines, unchanged. */
  readonly text: string;
  /** Bytes after them. */
  readonly damagedBytes: number;
}

/** Covers the source and audio of a segment, or its rungs. */
export type RecordedFact = SegmentClosed | RungsRecorded;

type TrackLine = Pick<RecordedSegment, "rendition" | "track"> & { readonly init?: string };
interface FactRows {
  readonly recorded: readonly (Omit<RecordedSegment, "track"> & { readonly track?: StoredTrack })[];
}
type FactLine = (Omit<SegmentClosed, "recorded"> | Omit<RungsRecorded, "recorded">) & FactRows;

/** The line of a fact, preceded by lines for the renditions that are not in `known` and for `changed` init segments. */
export function journalLines(
  fact: RecordedFact,
  known: ReadonlySet<string>,
  changed: readonly Required<TrackLine>[] = [],
): string {
  const tracks = fact.recorded.filter(({ rendition }) => !known.has(rendition));
  const rows = fact.recorded.map(({ track: _, ...row }) => row);
  const lines: (TrackLine | FactLine)[] = [
    ...tracks.map(({ rendition, track }) => ({ rendition, track })),
    ...changed,
    { ...fact, recorded: rows },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

export function parseJournal(text: string): ChapterJournal {
  const facts: RecordedFact[] = [];
  const tracks = new Map<string, StoredTrack[]>();
  let at = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
    const line = parseLine(text.slice(at, end));
    if (line === null) break;
    if ("track" in line) tracks.set(line.rendition, [...(tracks.get(line.rendition) ?? []), line.track]);
    else {
      const recorded = line.recorded.flatMap((row) => {
        const track = row.track ?? tracks.get(row.rendition)?.[0];
        return track ? [{ ...row, track }] : [];
      });
      facts.push({ ...line, recorded });
    }
    at = end + 1;
  }
  return { facts, tracks, text: text.slice(0, at), damagedBytes: Buffer.byteLength(text.slice(at)) };
}

function parseLine(text: string): TrackLine | FactLine | null {
  try {
    const line: unknown = JSON.parse(text);
    if (typeof line !== "object" || line === null) return null;
    if ("track" in line && "rendition" in line) return line as TrackLine;
    return "recorded" in line && Array.isArray(line.recorded) ? (line as FactLine) : null;
  } catch {
    return null;
  }
}
