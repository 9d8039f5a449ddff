import type { RecordedSegment, SegmentClosed, StoredTrack } from "../../ports/index.ts";

/**
 * The journal of a chapter, one JSON value a line: `{rendition, track}` before the first row of a rendition, then the facts, whose rows leave
 * their track out. A line counts when it is whole and ends; what stands behind the first that does not is unknown.
 */
export interface ChapterJournal {
  readonly facts: readonly SegmentClosed[];
  /** The lines that count, as they are. */
  readonly text: string;
  /** Bytes behind them. */
  readonly damagedBytes: number;
}

type TrackLine = Pick<RecordedSegment, "rendition" | "track">;
type FactLine = Omit<SegmentClosed, "recorded"> & {
  readonly recorded: readonly (Omit<RecordedSegment, "track"> & { readonly track?: StoredTrack })[];
};

/** The line of a fact, and before it those of the renditions that are not in `known`. */
export function journalLines(fact: SegmentClosed, known: ReadonlySet<string>): string {
  const tracks = fact.recorded.filter(({ rendition }) => !known.has(rendition));
  const rows = fact.recorded.map(({ track: _, ...row }) => row);
  const lines: (TrackLine | FactLine)[] = [
    ...tracks.map(({ rendition, track }) => ({ rendition, track })),
    { ...fact, recorded: rows },
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

export function parseJournal(text: string): ChapterJournal {
  const facts: SegmentClosed[] = [];
  const tracks = new Map<string, StoredTrack>();
  let at = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
    const line = parseLine(text.slice(at, end));
    if (line === null) break;
    if ("track" in line) tracks.set(line.rendition, line.track);
    else {
      const recorded = line.recorded.flatMap((row) => {
        const track = row.track ?? tracks.get(row.rendition);
        return track ? [{ ...row, track }] : [];
      });
      facts.push({ ...line, recorded });
    }
    at = end + 1;
  }
  return { facts, text: text.slice(0, at), damagedBytes: Buffer.byteLength(text.slice(at)) };
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
