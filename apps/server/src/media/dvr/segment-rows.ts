import { BlockRuns } from "./block-runs.ts";
import { BLOCK_ROWS, type DvrSegment, type ListPiece, Names, SegmentBlock } from "./segment-block.ts";

/** How long segments that left the list can be asked for, or as long as the list is if that is less: who has just read it may. */
const SERVED_AFTER_SECONDS = 3_600;
/** Of old segments that leave the list with a new one. */
const MAX_LEAVING = 2;

/** A row of a block. */
export interface FoundRow {
  readonly block: SegmentBlock;
  readonly at: number;
}

/** The closed segments of one rendition as rows of a list: from its first second, or of a window behind the edge. */
export class SegmentRows {
  /** Seconds; infinite for a whole session. */
  readonly #windowSeconds: number;
  readonly #inits = new Names();
  readonly #blocks: SegmentBlock[] = [];
  /** Of full blocks. */
  readonly #runs = new BlockRuns();
  #count = 0;
  /** Rows of the first block before it are not listed any more. */
  #listed = { index: 0, seconds: 0 };
  /** The init segment in force before the first listed row. */
  #mapBefore = "";
  #breaksBefore: number;

  /** `breaksBefore`: discontinuities of the session before its first row. */
  constructor(windowSeconds: number, breaksBefore: number) {
    this.#windowSeconds = windowSeconds;
    this.#breaksBefore = breaksBefore;
  }

  get blocks(): readonly SegmentBlock[] {
    return this.#blocks;
  }

  /** Behind the last row. */
  get end(): number {
    return this.#count;
  }

  /** Of the first listed row. */
  get first(): number {
    return this.#listed.index;
  }

  /** Listed rows. */
  get length(): number {
    return this.#count - this.#listed.index;
  }

  /** Of all listed rows. */
  get seconds(): number {
    return this.#listed.seconds;
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
    for (let seconds = 0; index > 0 && seconds < most; index--) seconds += this.segmentAt(index - 1).seconds;
    return this.#count === 0 ? 0 : this.segmentAt(index).msn;
  }

  /** Discontinuities of the session before the first listed row. */
  get breaksBefore(): number {
    return this.#breaksBefore;
  }

  /** So many discontinuities more were before its rows. */
  addBreaksBefore(breaks: number): void {
    this.#breaksBefore += breaks;
  }

  /** The tag of the init segment that is in force before the first listed row; empty where that names its own. */
  get mapBefore(): string {
    if (this.length === 0 || this.#mapBefore === "") return "";
    const { block, at } = this.row(this.first);
    return block.mapAt(at) === null ? `#EXT-X-MAP:URI="${this.#mapBefore}"\n` : "";
  }

  /** Whether some segment has this init segment. */
  hasInit(name: string): boolean {
    return name !== "" && this.#inits.has(name);
  }

  row(index: number): FoundRow {
    const block = this.#blocks[Math.floor(index / BLOCK_ROWS)];
    if (!block) throw new Error(`a DVR list has no row ${index} of ${this.#count}`);
    return { block, at: index % BLOCK_ROWS };
  }

  segmentAt(index: number): DvrSegment {
    const { block, at } = this.row(index);
    return block.segmentAt(at);
  }

  /** Null for a number that is not here (any more). */
  find(msn: number): FoundRow | null {
    const block = this.#blocks.findLast((each) => each.msnAt(0) <= msn);
    const at = block?.find(msn) ?? 0;
    return block && at < block.count && block.msnAt(at) === msn ? { block, at } : null;
  }

  add(segment: DvrSegment, names: Parameters<SegmentBlock["add"]>[1]): void {
    let block = this.#blocks.at(-1);
    if (!block || block.isFull) {
      block = new SegmentBlock(this.#inits);
      this.#blocks.push(block);
    }
    block.add(segment, names);
    this.#count++;
    this.#listed.seconds += segment.seconds;
    for (let left = 0; left < MAX_LEAVING && this.#leave(); left++);
  }

  /** The listed rows before `to` that are older than the last `seconds` before it. */
  olderThan(seconds: number, to: number): number {
    let index = to;
    for (let passed = 0; index > this.first && passed < seconds; ) passed += this.segmentAt(--index).seconds;
    return Math.max(0, index - this.first);
  }

  /** What must be done before the lines of all listed rows can be written within a turn of the event loop. */
  unrendered(): Iterable<() => void> {
    return this.#runs.unrendered(
      this.#blocks,
      Math.ceil(this.first / BLOCK_ROWS),
      Math.floor(this.#count / BLOCK_ROWS),
    );
  }

  /** The lines of the rows from `from` up to `to`. */
  *pieces(from: number, to: number): Generator<ListPiece, void> {
    const [firstFull, endFull] = [Math.ceil(from / BLOCK_ROWS), Math.floor(to / BLOCK_ROWS)];
    if (firstFull >= endFull) return yield* this.#partsOfBlocks(from, to);
    yield* this.#partsOfBlocks(from, firstFull * BLOCK_ROWS);
    yield* this.#runs.pieces(this.#blocks, firstFull, endFull);
    yield* this.#partsOfBlocks(endFull * BLOCK_ROWS, to);
  }

  *#partsOfBlocks(from: number, to: number): Generator<ListPiece, void> {
    for (let index = from; index < to; ) {
      const { block, at } = this.row(index);
      const end = Math.min(BLOCK_ROWS, at + to - index);
      yield block.piece(at, end);
      index += end - at;
    }
  }

  /** The oldest listed segment leaves the list if the others are long enough without it. Its row stays as long as the list was: somebody may have just read of it. */
  #leave(): boolean {
    const { index, seconds } = this.#listed;
    const { block, at } = this.row(index);
    const without = seconds - block.secondsAt(at);
    if (without < this.#windowSeconds) return false;
    if (block.isBreak(at)) this.#breaksBefore++;
    this.#mapBefore = block.mapAt(at) ?? this.#mapBefore;
    this.#listed = { index: index + 1, seconds: without };
    if (this.#blocks.length > 1 && this.first - BLOCK_ROWS >= this.length) this.#forgetBlock();
    return true;
  }

  #forgetBlock(): void {
    this.#blocks.shift();
    this.#runs.forgetFirst();
    this.#count -= BLOCK_ROWS;
    this.#listed.index -= BLOCK_ROWS;
  }
}
