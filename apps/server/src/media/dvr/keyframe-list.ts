import { type LowLatency, playlistEnd, playlistHeader } from "@weir/formats/hls";
import { deltaLines } from "./delta-lines.ts";
import { ListText } from "./list-text.ts";
import { BLOCK_ROWS, type DvrPlace, type ListPiece } from "./segment-block.ts";
import type { FoundRow, SegmentRows } from "./segment-rows.ts";

/** Numbers after which a segment that has no place yet will have none. */
const SETTLED_MSNS = 64;

/** In target durations, from the end: what is older is left out of a delta update. The least that RFC 8216bis 4.4.3.8 allows. */
const SKIP_UNTIL_TARGET_DURATIONS = 6;

export const skipSecondsOf = (targetDuration: number): number => SKIP_UNTIL_TARGET_DURATIONS * targetDuration;

/** What a list of keyframes must know of its session. */
export interface ListEdge {
  readonly targetDuration: number;
  /** Null once it has ended. */
  readonly lowLatency: LowLatency | null;
}

/** The list of the keyframes of what is stored. */
export class KeyframeList {
  readonly #rows: SegmentRows;
  /** The highest number that has a place. */
  #placed = -1;
  #bits = 0;
  #seconds = 0;
  #peak = 0;
  readonly #written: Record<"whole" | "delta", { readonly key: string; readonly text: ListText | null } | null> = {
    whole: null,
    delta: null,
  };

  constructor(rows: SegmentRows) {
    this.#rows = rows;
  }

  /** The recorder has put the segment of a row there. */
  place({ block, at }: FoundRow, { keyframeBytes = 0 }: DvrPlace): void {
    this.#placed = Math.max(this.#placed, block.msnAt(at));
    const bits = keyframeBytes * 8;
    if (bits === 0) return;
    const seconds = Math.max(block.secondsAt(at), 0.001);
    this.#bits += bits;
    this.#seconds += seconds;
    this.#peak = Math.max(this.#peak, bits / seconds);
  }

  /** Bits per second; null without keyframes. */
  get rates(): { readonly bandwidth: number; readonly averageBandwidth: number } | null {
    if (this.#bits === 0) return null;
    return { bandwidth: Math.ceil(this.#peak), averageBandwidth: Math.ceil(this.#bits / this.#seconds) };
  }

  /** What must be done before it can be written within a turn of the event loop. */
  *unrendered(): Generator<() => void, void> {
    for (const [nth, block] of this.#rows.blocks.entries())
      if (!block.hasIFrames && this.#isSettled(nth)) yield () => void block.iFrames(0, BLOCK_ROWS, true);
  }

  /** Whether it has this number, or goes on behind it. */
  reaches(msn: number): boolean {
    return this.#placed >= msn;
  }

  /** Null without any. As a delta update, unless it has ended. */
  text(edge: ListEdge, isDelta: boolean): ListText | null {
    const isShortened = isDelta && edge.lowLatency !== null;
    const key = `${this.#placed} ${this.#rows.first} ${edge.lowLatency === null}`;
    const written = this.#written[isShortened ? "delta" : "whole"];
    if (written?.key === key) return written.text;
    const text = this.#write(edge, isShortened);
    this.#written[isShortened ? "delta" : "whole"] = { key, text };
    return text;
  }

  #write({ targetDuration, lowLatency }: ListEdge, isShortened: boolean): ListText | null {
    const rows = this.#rows;
    const found = rows.find(this.#placed);
    if (!found || this.rates === null) return null;
    const to = rows.blocks.indexOf(found.block) * BLOCK_ROWS + found.at + 1;
    if (to <= rows.first) return null;
    const ending = lowLatency ? "live" : "ended";
    const canSkipUntil = skipSecondsOf(targetDuration);
    const skipped = isShortened ? rows.olderThan(canSkipUntil, to) : 0;
    const header = playlistHeader({
      ...{ targetDuration, mediaSequence: rows.lastMsn + 1 - rows.length, discontinuitySequence: rows.breaksBefore },
      ...{ independentSegments: true, iFramesOnly: true, ending, skippedSegments: skipped },
      ...(lowLatency && { lowLatency: { ...lowLatency, canSkipUntil } }),
    });
    const end = playlistEnd({ ending }, "");
    if (skipped === 0) return ListText.of(header + rows.mapBefore, this.#pieces(rows.first, to), end);
    const { text } = deltaLines(rows, rows.first + skipped, to, (index) => {
      const { block, at } = rows.row(index);
      return block.iFrameLineAt(at);
    });
    return ListText.of(header, [], text + end);
  }

  *#pieces(first: number, to: number): Generator<ListPiece, void> {
    for (let index = first; index < to; ) {
      const { block, at } = this.#rows.row(index);
      const end = Math.min(BLOCK_ROWS, at + to - index);
      yield block.iFrames(at, end, this.#isSettled(Math.floor(index / BLOCK_ROWS)));
      index += end - at;
    }
  }

  /** Whether no row of a block will be placed any more: they are placed in order, nearly. */
  #isSettled(nth: number): boolean {
    const block = this.#rows.blocks[nth];
    return block?.isFull === true && this.#placed >= block.msnAt(BLOCK_ROWS - 1) + SETTLED_MSNS;
  }
}
