import {
  type MediaPlaylist,
  type PlaylistSegment,
  playlistEnd,
  playlistHeader,
  type SegmentHead,
  segmentText,
} from "@weir/formats/hls";
import { missingBetween, type TimelinePlace } from "../stored/missing-segments.ts";
import { deltaLines } from "./delta-lines.ts";
import { type DvrMoment, momentsIn } from "./dvr-moments.ts";
import { KeyframeList, type ListEdge, skipSecondsOf } from "./keyframe-list.ts";
import { ListText } from "./list-text.ts";
import type { DvrPlace, DvrSegment } from "./segment-block.ts";
import { SegmentRows } from "./segment-rows.ts";
import { ShownDurations } from "./shown-durations.ts";

/** RFC 8216bis 6.2.1: a time for every minute lets a player find any moment. */
const TIME_EVERY_MS = 60_000;
/** A segment that begins so much later or earlier than the one before it ends has its time. */
const MAX_STEP_MS = 500;

/** What follows the closed segments: the newest of them with their parts, and what is announced. */
export interface DvrEdge extends ListEdge {
  /** Parts of the newest closed segments, by number. */
  readonly heads: ReadonlyMap<number, SegmentHead>;
  readonly open: (SegmentHead & { readonly msn: number }) | null;
  /** Rises with every change. */
  readonly version: number;
}

export const ENDED = { heads: new Map(), open: null, lowLatency: null, version: 0 } as const;

/** A segment to be listed. */
export interface NewDvrSegment extends DvrSegment {
  /** On the timeline of the session. */
  readonly startSeconds: number;
}

type NextSegment = Pick<NewDvrSegment, "msn" | "startSeconds" | "programDateTimeMs" | "discontinuity">;

/** A segment and its place; null for a place that is not known (yet). */
export interface PlacedSegment extends NewDvrSegment {
  readonly place: DvrPlace | null;
}

export type ListedSegment = Omit<PlacedSegment, "startSeconds">;

/** The list of one rendition from its first second, or of a window behind the edge. */
export class DvrList {
  readonly #rows: SegmentRows;
  /** Of what is placed. */
  readonly keyframes: KeyframeList;
  readonly #durations = new ShownDurations();
  #map = "";
  #isAllIndependent = true;
  #lastMinute = Number.NaN;
  #newest: TimelinePlace | null = null;
  /** Discontinuities of the session up to its last row. */
  #breaks: number;
  #moments: { readonly lastMsn: number; readonly found: readonly DvrMoment[] } | null = null;
  #whole: { readonly version: number; readonly text: ListText } | null = null;
  #delta: { readonly version: number; readonly text: ListText } | null = null;

  /** `breaksBefore`: discontinuities of the session before its first row. */
  constructor(windowSeconds = Number.POSITIVE_INFINITY, breaksBefore = 0) {
    this.#rows = new SegmentRows(windowSeconds, breaksBefore);
    this.#breaks = breaksBefore;
    this.keyframes = new KeyframeList(this.#rows);
  }

  /** Number of the newest segment; -1 before the first. */
  get lastMsn(): number {
    return this.#rows.lastMsn;
  }

  /** Number of the oldest segment whose bytes must be here: some that left the list are still asked for. */
  get oldestServed(): number {
    return this.#rows.oldestServed;
  }

  /** Discontinuities of the session up to its last row, as far as it knows. */
  get breaks(): number {
    return this.#breaks;
  }

  /** So many more were before its first row: what had them is not kept any more. */
  addBreaksBefore(breaks: number): void {
    this.#breaks += breaks;
    this.#rows.addBreaksBefore(breaks);
  }

  /** Segments in the list. */
  get length(): number {
    return this.#rows.length;
  }

  /** The moment of the first segment in the list, in ms since the epoch; null without one. */
  get sinceMs(): number | null {
    return this.length > 0 ? this.#rows.segmentAt(this.#rows.first).programDateTimeMs : null;
  }

  /** A segment that is older than those that are here is ignored. */
  add({ startSeconds, ...segment }: NewDvrSegment): void {
    const { msn, seconds, programDateTimeMs, discontinuity } = segment;
    if (msn <= this.lastMsn) return;
    const goesOn = this.fill({ msn, startSeconds, programDateTimeMs, discontinuity });
    this.#push({ ...segment, discontinuity: discontinuity || !goesOn });
    this.#newest = { msn, start: startSeconds, duration: seconds, programDateTimeMs };
  }

  addPlaced({ place, ...segment }: PlacedSegment): void {
    this.add(segment);
    if (place) this.place(segment.msn, place);
  }

  /**
   * Gaps for the numbers up to that of a segment, which need not be closed. False if they are too many, as a session leaves when it moves to another
   * node: then the numbers join.
   */
  fill({ msn, startSeconds, programDateTimeMs, discontinuity }: NextSegment): boolean {
    const next = { msn, start: startSeconds, programDateTimeMs, isBreak: discontinuity };
    const missing = this.#newest ? missingBetween(this.#newest, next, 1) : [];
    for (const place of missing ?? []) {
      this.#push({
        ...{ msn: place.msn, seconds: place.duration, programDateTimeMs: place.programDateTimeMs },
        ...{ init: null, discontinuity: false, isIndependent: true, isMissing: true },
      });
      this.#newest = place;
      // The clock may have gone further than the timeline, or less far.
      this.#lastMinute = Number.NaN;
    }
    return missing !== null;
  }

  /** The recorder has put the segment there. */
  place(msn: number, place: DvrPlace): void {
    const row = this.#rows.find(msn);
    if (!row) return;
    row.block.place(row.at, place);
    this.keyframes.place(row, place);
  }

  /** Null for a number that is not here (any more). */
  segment(msn: number): ListedSegment | null {
    const row = this.#rows.find(msn);
    return row && { ...row.block.segmentAt(row.at), place: row.block.placeAt(row.at) };
  }

  /** Whether some segment has this init segment. */
  hasInit(name: string): boolean {
    return this.#rows.hasInit(name);
  }

  /** What must be done before the whole list can be written within a turn of the event loop. */
  unrendered(): Iterable<() => void> {
    return this.#rows.unrendered();
  }

  /** Where viewers can go back to and see a picture at once, some seconds apart: `apartFor` the length of the list. */
  moments(apartFor: (seconds: number) => number): readonly DvrMoment[] {
    const { blocks, first, seconds, lastMsn } = this.#rows;
    if (this.#moments?.lastMsn !== lastMsn)
      this.#moments = { lastMsn, found: momentsIn(blocks, first, apartFor(seconds)) };
    return this.#moments.found;
  }

  /** The list of this version, if somebody has asked for it before. */
  written(version: number, isDelta: boolean): ListText | null {
    const text = isDelta ? this.#delta : this.#whole;
    return text?.version === version ? text.text : null;
  }

  /** The list, the same for all viewers; as a delta update, unless it has ended. */
  text(edge: DvrEdge, isDelta: boolean): ListText {
    const { version } = edge;
    if (isDelta && edge.lowLatency) {
      if (this.#delta?.version !== version) this.#delta = { version, text: this.#write(edge, this.#skippable(edge)) };
      return this.#delta.text;
    }
    if (this.#whole?.version !== version) this.#whole = { version, text: this.#write(edge, 0) };
    return this.#whole.text;
  }

  /** The listed segments that are older than the skip boundary. */
  #skippable({ targetDuration, open }: DvrEdge): number {
    const openSeconds = open ? open.parts.reduce((sum, { duration }) => sum + duration, 0) : 0;
    return this.#rows.olderThan(skipSecondsOf(targetDuration) - openSeconds, this.#rows.end);
  }

  #write(edge: DvrEdge, skipped: number): ListText {
    const { targetDuration, heads, open, lowLatency } = edge;
    const rows = this.#rows;
    const nextMsn = open?.msn ?? this.lastMsn + 1;
    const playlist: Omit<MediaPlaylist, "segments"> = {
      targetDuration,
      // Counted from the end, where players ask by number.
      mediaSequence: nextMsn - this.length,
      discontinuitySequence: rows.breaksBefore,
      independentSegments: this.#isAllIndependent,
      skippedSegments: skipped,
      ...(lowLatency && {
        lowLatency: { ...lowLatency, canSkipUntil: skipSecondsOf(targetDuration) },
      }),
      ending: lowLatency ? "live" : "ended",
    };
    const openSegment = open && { ...open, programDateTimeMs: this.#timeOf(open) };
    const ending = { ...playlist, ...(openSegment && { openSegment }) };
    if (skipped > 0) {
      const { text, map } = deltaLines(rows, rows.first + skipped, rows.end, (index) => this.#line(index, heads));
      return ListText.of(playlistHeader(playlist), [], text + playlistEnd(ending, map));
    }
    const withParts = this.#firstWith(heads, rows.first);
    let lines = "";
    for (let index = withParts; index < rows.end; index++) lines += segmentText(this.#line(index, heads), "");
    const end = lines + playlistEnd(ending, this.#map);
    return ListText.of(playlistHeader(playlist) + rows.mapBefore, rows.pieces(rows.first, withParts), end);
  }

  #firstWith(heads: ReadonlyMap<number, SegmentHead>, from: number): number {
    let index = this.#rows.end;
    while (index > from && heads.has(this.#rows.segmentAt(index - 1).msn)) index--;
    return index;
  }

  #line(index: number, heads: DvrEdge["heads"]): PlaylistSegment {
    const { block, at } = this.#rows.row(index);
    return { ...block.lineAt(at), parts: heads.get(block.msnAt(at))?.parts ?? [] };
  }

  #timeOf({
    programDateTimeMs,
    discontinuity,
  }: Pick<SegmentHead, "programDateTimeMs" | "discontinuity">): number | null {
    const minute = Math.floor((programDateTimeMs ?? 0) / TIME_EVERY_MS);
    const last = this.#newest;
    const expectedMs = last ? last.programDateTimeMs + last.duration * 1000 : (programDateTimeMs ?? 0);
    // After a reconnect media goes on without a discontinuity, but later.
    const isLater = Math.abs((programDateTimeMs ?? 0) - expectedMs) > MAX_STEP_MS;
    return discontinuity || isLater || minute !== this.#lastMinute ? programDateTimeMs : null;
  }

  #push(segment: DvrSegment): void {
    const { init, isIndependent, programDateTimeMs } = segment;
    const seconds = this.#durations.shown(segment.seconds);
    const isFirst = this.#rows.end === 0;
    const shown = { ...segment, seconds, discontinuity: segment.discontinuity && !isFirst };
    // The first row has no tag, but its number is the one that it has in the other renditions.
    if (segment.discontinuity) {
      this.#breaks++;
      if (isFirst) this.#rows.addBreaksBefore(1);
    }
    const hasTime = this.#timeOf(shown) !== null;
    const hasMap = init !== null && init !== this.#map;
    if (hasMap) this.#map = init;
    if (init !== null) this.#isAllIndependent &&= isIndependent;
    this.#lastMinute = Math.floor(programDateTimeMs / TIME_EVERY_MS);
    this.#rows.add(shown, { hasTime, hasMap });
  }
}
