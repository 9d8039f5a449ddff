import {
  type LowLatency,
  type MediaPlaylist,
  type PlaylistSegment,
  playlistEnd,
  playlistHeader,
  type SegmentHead,
  segmentText,
} from "@weir/formats/hls";
import { BlockRuns } from "./block-runs.ts";
import { type DvrMoment, momentsIn } from "./dvr-moments.ts";
import { ListText } from "./list-text.ts";
import {
  BLOCK_ROWS,
  type DvrPlace,
  type DvrSegment,
  dvrName,
  type ListPiece,
  Names,
  SegmentBlock,
} from "./segment-block.ts";
import { ShownDurations } from "./shown-durations.ts";

/** In target durations, from the end: what is older is left out of a delta update. The least that RFC 8216bis 4.4.3.8 allows. */
const SKIP_UNTIL_TARGET_DURATIONS = 6;
/** RFC 8216bis 6.2.1: a time for every minute lets a player find any moment. */
const TIME_EVERY_MS = 60_000;
/** A hole in the numbers up to this size is listed as gaps; over a larger one, as a session leaves when it moves to another node, the numbers join. */
const MAX_FILLED = 1_000;
/** How long segments that left the list can be asked for, or as long as the list is if that is less: who has just read it may. */
const SERVED_AFTER_SECONDS = 3_600;
/** Numbers after which a segment that has no place yet will have none. */
const SETTLED_MSNS = 64;
/** Of old segments that leave the list with a new one. */
const MAX_LEAVING = 2;

/** What follows the closed segments: the newest of them with their parts, and what is announced. */
export interface DvrEdge {
  readonly targetDuration: number;
  /** Parts of the newest closed segments, by number. */
  readonly heads: ReadonlyMap<number, SegmentHead>;
  readonly open: (SegmentHead & { readonly msn: number }) | null;
  /** Null once it has ended. */
  readonly lowLatency: LowLatency | null;
  /** Rises with every change. */
  readonly version: number;
}

export const ENDED = { heads: new Map(), open: null, lowLatency: null, version: 0 } as const;

/** A segment and its place; null for a place that is not known (yet). */
export interface PlacedSegment extends DvrSegment {
  readonly place: DvrPlace | null;
}

/** The list of one rendition from its first second, or of a window behind the edge. */
export class DvrList {
  /** Seconds; infinite for a whole session. */
  readonly #windowSeconds: number;
  readonly #inits = new Names();
  readonly #durations = new ShownDurations();
  readonly #blocks: SegmentBlock[] = [];
  /** Of full blocks. */
  readonly #runs = new BlockRuns();
  /** Rows of the first block that nobody can ask for any more. */
  #listed = { index: 0, seconds: 0 };
  #count = 0;
  #map = "";
  /** The init segment in force before the first listed row. */
  #mapBefore = "";
  #breaksBefore = 0;
  #isAllIndependent = true;
  #lastMinute = Number.NaN;
  #moments: { readonly lastMsn: number; readonly found: readonly DvrMoment[] } | null = null;
  /** The highest number that has a place. */
  #placed = -1;
  readonly #keyframes = { bits: 0, seconds: 0, peak: 0 };
  #iFrames: { readonly key: string; readonly text: ListText | null } | null = null;
  #whole: { readonly version: number; readonly text: ListText } | null = null;
  #delta: { readonly version: number; readonly text: ListText } | null = null;

  /** `breaksBefore`: discontinuities of the session before its first row. */
  constructor(windowSeconds = Number.POSITIVE_INFINITY, breaksBefore = 0) {
    this.#windowSeconds = windowSeconds;
    this.#breaksBefore = breaksBefore;
  }

  /** Number of the newest segment; -1 before the first. */
  get lastMsn(): number {
    const block = this.#blocks.at(-1);
    return block ? block.msnAt(block.count - 1) : -1;
  }

  /** Number of the oldest segment whose bytes must be here: some that left the list are still asked for. */
  get oldestServed(): number {
    let index = this.#listed.index;
    const most = Math.min(this.#windowSeconds, SERVED_AFTER_SECONDS);
    for (let seconds = 0; index > 0 && seconds < most; index--) seconds += this.#at(index - 1).segment.seconds;
    return this.#count === 0 ? 0 : this.#at(index).segment.msn;
  }

  /** Segments in the list. */
  get length(): number {
    return this.#count - this.#listed.index;
  }

  /** The moment of the first segment in the list, in ms since the epoch; null without one. */
  get sinceMs(): number | null {
    return this.length > 0 ? this.#at(this.#listed.index).segment.programDateTimeMs : null;
  }

  /** A segment that is older than those that are here is ignored. */
  add(segment: DvrSegment): void {
    const { lastMsn } = this;
    if (segment.msn <= lastMsn) return;
    const isHole = this.#count > 0 && segment.msn > lastMsn + 1;
    this.fill(segment);
    this.#push(isHole && !segment.discontinuity ? { ...segment, discontinuity: true } : segment);
  }

  addPlaced({ place, ...segment }: PlacedSegment): void {
    this.add(segment);
    if (place) this.place(segment.msn, place);
  }

  /** Gaps for the numbers up to that of a segment, which need not be closed. */
  fill({ msn, programDateTimeMs }: Pick<DvrSegment, "msn" | "programDateTimeMs">): void {
    const { lastMsn } = this;
    const missing = msn - lastMsn - 1;
    if (this.#count === 0 || missing <= 0 || missing > MAX_FILLED) return;
    const last = this.#at(this.#count - 1).segment;
    const from = last.programDateTimeMs + last.seconds * 1000;
    // Not longer than its neighbours: no duration may exceed the target duration.
    const seconds = Math.min(Math.max((programDateTimeMs - from) / 1000 / missing, 0.001), Math.max(last.seconds, 1));
    for (let i = 0; i < missing; i++)
      this.#push({
        ...{ msn: lastMsn + 1 + i, seconds, programDateTimeMs: from + i * seconds * 1000, init: null },
        ...{ discontinuity: false, isIndependent: true },
      });
  }

  /** The recorder has put the segment there. */
  place(msn: number, place: DvrPlace): void {
    const found = this.#find(msn);
    if (!found) return;
    found.block.place(found.at, place);
    this.#placed = Math.max(this.#placed, msn);
    const bits = (place.keyframeBytes ?? 0) * 8;
    if (bits === 0) return;
    const seconds = Math.max(found.block.secondsAt(found.at), 0.001);
    this.#keyframes.bits += bits;
    this.#keyframes.seconds += seconds;
    this.#keyframes.peak = Math.max(this.#keyframes.peak, bits / seconds);
  }

  /** Null for a number that is not here (any more). */
  segment(msn: number): PlacedSegment | null {
    const found = this.#find(msn);
    return found && { ...found.block.segmentAt(found.at), place: found.block.placeAt(found.at) };
  }

  /** Whether some segment has this init segment. */
  hasInit(name: string): boolean {
    return name !== "" && this.#inits.has(name);
  }

  /** What must be done before the whole list can be written within a turn of the event loop. */
  unrendered(): Iterable<() => void> {
    const { index } = this.#listed;
    return this.#runs.unrendered(this.#blocks, Math.ceil(index / BLOCK_ROWS), this.#fullBlocks);
  }

  /** Where viewers can go back to and see a picture at once, some seconds apart: `apartFor` the length of the list. */
  moments(apartFor: (seconds: number) => number): readonly DvrMoment[] {
    const { lastMsn } = this;
    if (this.#moments?.lastMsn !== lastMsn)
      this.#moments = { lastMsn, found: momentsIn(this.#blocks, this.#listed.index, apartFor(this.#listed.seconds)) };
    return this.#moments.found;
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

  /** What must be done before the list of keyframes can be written within a turn of the event loop. */
  *unrenderedIFrames(): Generator<() => void, void> {
    for (const [nth, block] of this.#blocks.entries())
      if (!block.hasIFrames && this.#isSettled(nth)) yield () => void block.iFrames(0, BLOCK_ROWS, true);
  }

  /** The list of the keyframes of what is placed; null without any. */
  iFrames(edge: Pick<DvrEdge, "targetDuration" | "lowLatency">): ListText | null {
    const key = `${this.#placed} ${this.#listed.index} ${edge.lowLatency === null}`;
    if (this.#iFrames?.key !== key) this.#iFrames = { key, text: this.#writeIFrames(edge) };
    return this.#iFrames.text;
  }

  /** Bits per second; null without keyframes. */
  get iFrameRates(): { readonly bandwidth: number; readonly averageBandwidth: number } | null {
    const { bits, seconds, peak } = this.#keyframes;
    return bits > 0 ? { bandwidth: Math.ceil(peak), averageBandwidth: Math.ceil(bits / seconds) } : null;
  }

  #writeIFrames({ targetDuration, lowLatency }: Pick<DvrEdge, "targetDuration" | "lowLatency">): ListText | null {
    const found = this.#find(this.#placed);
    if (!found || this.iFrameRates === null) return null;
    const to = this.#blocks.indexOf(found.block) * BLOCK_ROWS + found.at + 1;
    const first = this.#listed.index;
    if (to <= first) return null;
    const header = playlistHeader({
      ...{ targetDuration, mediaSequence: this.lastMsn + 1 - this.length, discontinuitySequence: this.#breaksBefore },
      ...{ independentSegments: true, iFramesOnly: true, ending: lowLatency ? "live" : "ended" },
    });
    const startsWithMap = this.#mapBefore !== "" && this.#at(first).block.mapAt(this.#at(first).at) === null;
    const map = startsWithMap ? `#EXT-X-MAP:URI="${this.#mapBefore}"\n` : "";
    return ListText.of(
      header + map,
      this.#iFramePieces(first, to),
      playlistEnd({ ending: lowLatency ? "live" : "ended" }, ""),
    );
  }

  *#iFramePieces(first: number, to: number): Generator<ListPiece, void> {
    for (let index = first; index < to; ) {
      const nth = Math.floor(index / BLOCK_ROWS);
      const at = index % BLOCK_ROWS;
      const end = Math.min(BLOCK_ROWS, at + to - index);
      yield (this.#blocks[nth] as SegmentBlock).iFrames(at, end, this.#isSettled(nth));
      index += end - at;
    }
  }

  /** Whether no row of a block will be placed any more: they are placed in order, nearly. */
  #isSettled(nth: number): boolean {
    const block = this.#blocks[nth];
    return block?.isFull === true && this.#placed >= block.msnAt(BLOCK_ROWS - 1) + SETTLED_MSNS;
  }

  /** The listed segments that are older than the skip boundary. */
  #skippable({ targetDuration, open }: DvrEdge): number {
    let seconds = open ? open.parts.reduce((sum, { duration }) => sum + duration, 0) : 0;
    let index = this.#count;
    while (index > this.#listed.index && seconds < SKIP_UNTIL_TARGET_DURATIONS * targetDuration) {
      index--;
      seconds += this.#at(index).segment.seconds;
    }
    return index - this.#listed.index;
  }

  #write(edge: DvrEdge, skipped: number): ListText {
    const { targetDuration, heads, open, lowLatency } = edge;
    const nextMsn = open?.msn ?? this.lastMsn + 1;
    const playlist: Omit<MediaPlaylist, "segments"> = {
      targetDuration,
      // Counted from the end, where players ask by number.
      mediaSequence: nextMsn - this.length,
      discontinuitySequence: this.#breaksBefore,
      independentSegments: this.#isAllIndependent,
      skippedSegments: skipped,
      ...(lowLatency && {
        lowLatency: { ...lowLatency, canSkipUntil: SKIP_UNTIL_TARGET_DURATIONS * targetDuration },
      }),
      ending: lowLatency ? "live" : "ended",
    };
    const first = this.#listed.index + skipped;
    // A client of a delta update knows the init segment that is in force.
    const map = skipped > 0 ? "" : this.#mapBefore;
    const startsWithMap = map !== "" && this.#count > first && this.#at(first).block.mapAt(this.#at(first).at) === null;
    const header = playlistHeader(playlist) + (startsWithMap ? `#EXT-X-MAP:URI="${map}"\n` : "");
    const withParts = this.#firstWith(heads, first);
    let end = "";
    for (let index = withParts; index < this.#count; index++) end += this.#lineWithParts(index, heads);
    const openSegment = open && {
      ...open,
      programDateTimeMs: this.#timeOf(open),
      map: open.map === this.#map ? "" : open.map,
    };
    end += playlistEnd({ ...playlist, ...(openSegment && { openSegment }) }, "");
    return ListText.of(header, this.#pieces(first, withParts), end);
  }

  *#pieces(from: number, to: number): Generator<ListPiece, void> {
    const [firstFull, endFull] = [Math.ceil(from / BLOCK_ROWS), Math.floor(to / BLOCK_ROWS)];
    if (firstFull >= endFull) return yield* this.#partsOfBlocks(from, to);
    yield* this.#partsOfBlocks(from, firstFull * BLOCK_ROWS);
    yield* this.#runs.pieces(this.#blocks, firstFull, endFull);
    yield* this.#partsOfBlocks(endFull * BLOCK_ROWS, to);
  }

  *#partsOfBlocks(from: number, to: number): Generator<ListPiece, void> {
    for (let index = from; index < to; ) {
      const at = index % BLOCK_ROWS;
      const end = Math.min(BLOCK_ROWS, at + to - index);
      yield (this.#blocks[Math.floor(index / BLOCK_ROWS)] as SegmentBlock).piece(at, end);
      index += end - at;
    }
  }

  get #fullBlocks(): number {
    return Math.floor(this.#count / BLOCK_ROWS);
  }

  #firstWith(heads: ReadonlyMap<number, SegmentHead>, from: number): number {
    let index = this.#count;
    while (index > from && heads.has(this.#at(index - 1).segment.msn)) index--;
    return index;
  }

  #lineWithParts(index: number, heads: ReadonlyMap<number, SegmentHead>): string {
    const { block, at, segment } = this.#at(index);
    const line: PlaylistSegment = {
      uri: dvrName(segment.msn),
      duration: segment.seconds,
      gap: segment.init === null,
      programDateTimeMs: block.hasTime(at) ? segment.programDateTimeMs : null,
      discontinuity: segment.discontinuity,
      map: block.mapAt(at) ?? "",
      parts: heads.get(segment.msn)?.parts ?? [],
    };
    return segmentText(line, "");
  }

  #timeOf({
    programDateTimeMs,
    discontinuity,
  }: Pick<SegmentHead, "programDateTimeMs" | "discontinuity">): number | null {
    const minute = Math.floor((programDateTimeMs ?? 0) / TIME_EVERY_MS);
    return discontinuity || minute !== this.#lastMinute ? programDateTimeMs : null;
  }

  #push(segment: DvrSegment): void {
    let block = this.#blocks.at(-1);
    if (!block || block.isFull) {
      block = new SegmentBlock(this.#inits);
      this.#blocks.push(block);
    }
    const { init, isIndependent, programDateTimeMs } = segment;
    const seconds = this.#durations.shown(segment.seconds);
    const shown = { ...segment, seconds, discontinuity: segment.discontinuity && this.#count > 0 };
    const hasTime = this.#timeOf(shown) !== null;
    const hasMap = init !== null && init !== this.#map;
    if (hasMap) this.#map = init;
    if (init !== null) this.#isAllIndependent &&= isIndependent;
    this.#lastMinute = Math.floor(programDateTimeMs / TIME_EVERY_MS);
    block.add(shown, { hasTime, hasMap });
    this.#count++;
    this.#listed.seconds += seconds;
    for (let left = 0; left < MAX_LEAVING && this.#leave(); left++);
  }

  /** The oldest listed segment leaves the list if the others are long enough without it. Its row stays as long as the list was: somebody may have just read of it. */
  #leave(): boolean {
    const { index, seconds } = this.#listed;
    const { block, at, segment } = this.#at(index);
    if (seconds - segment.seconds < this.#windowSeconds) return false;
    if (segment.discontinuity) this.#breaksBefore++;
    this.#mapBefore = block.mapAt(at) ?? this.#mapBefore;
    this.#listed = { index: index + 1, seconds: seconds - segment.seconds };
    const oldest = this.#blocks[1];
    if (oldest && this.#listed.index - BLOCK_ROWS >= this.length) this.#forgetBlock();
    return true;
  }

  #forgetBlock(): void {
    this.#blocks.shift();
    this.#runs.forgetFirst();
    this.#count -= BLOCK_ROWS;
    this.#listed = { ...this.#listed, index: this.#listed.index - BLOCK_ROWS };
  }

  #find(msn: number): { readonly block: SegmentBlock; readonly at: number } | null {
    const block = this.#blocks.findLast((each) => each.msnAt(0) <= msn);
    const at = block?.find(msn) ?? 0;
    return block && at < block.count && block.msnAt(at) === msn ? { block, at } : null;
  }

  #at(index: number) {
    const block = this.#blocks[Math.floor(index / BLOCK_ROWS)];
    if (!block) throw new Error(`a DVR list has no row ${index} of ${this.#count}`);
    const at = index % BLOCK_ROWS;
    return { block, at, segment: block.segmentAt(at) };
  }
}
