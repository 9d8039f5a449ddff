import { type ListPiece, pieceOf, type SegmentBlock } from "./segment-block.ts";

/** Blocks of a run: more make a list a hundredth smaller, and take the event loop for longer than a few milliseconds. */
const MAX_BLOCKS = 16;

/**
 * Full blocks compressed together, 1, 2, 4, 8 or 16 of them: a piece of its own costs each some 70 bytes, and the table of its symbols. A block is compressed
 * again when its run becomes longer, or shorter as the oldest leave a window: some five times in all.
 */
export class BlockRuns {
  /** By the number of the first block, counted from the first block ever, and by length. */
  #pieces = new Map<string, ListPiece>();
  #forgotten = 0;

  /** The pieces of the blocks from `from` up to `to`. */
  *pieces(blocks: readonly SegmentBlock[], from: number, to: number): Generator<ListPiece, void> {
    const used = new Map<string, ListPiece>();
    for (const { start, count } of this.#runs(from, to)) {
      const key = this.#keyOf(start, count);
      const piece = this.#pieces.get(key) ?? pieceOf(blocks.slice(start, start + count).map((block) => block.lines()));
      used.set(key, piece);
      yield piece;
    }
    this.#pieces = used;
  }

  /** What `pieces` would do for the first time, in steps. */
  *unrendered(blocks: readonly SegmentBlock[], from: number, to: number): Generator<() => void, void> {
    for (const block of blocks.slice(from, to)) if (!block.isWritten) yield () => void block.lines();
    for (const { start, count } of this.#runs(from, to)) {
      const key = this.#keyOf(start, count);
      if (this.#pieces.has(key)) continue;
      yield () => {
        const piece = pieceOf(blocks.slice(start, start + count).map((block) => block.lines()));
        this.#pieces.set(key, piece);
      };
    }
  }

  /** The first block is not kept any more. */
  forgetFirst(): void {
    this.#forgotten++;
  }

  /** Each begins at a multiple of its length. */
  *#runs(from: number, to: number): Generator<{ readonly start: number; readonly count: number }, void> {
    for (let start = from; start < to; ) {
      let count = MAX_BLOCKS;
      while ((this.#forgotten + start) % count !== 0 || start + count > to) count /= 2;
      yield { start, count };
      start += count;
    }
  }

  #keyOf(start: number, count: number): string {
    return `${this.#forgotten + start}+${count}`;
  }
}
