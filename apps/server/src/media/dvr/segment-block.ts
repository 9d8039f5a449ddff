import { constants, deflateRawSync } from "node:zlib";
import { type PlaylistSegment, segmentText } from "@weir/formats/hls";
import { spanName } from "../stored/layout.ts";

/** Rows of a block: a quarter of an hour of segments of 2 s. */
export const BLOCK_ROWS = 512;
const [GAP, DISCONTINUITY, HAS_TIME, HAS_MAP, INDEPENDENT, MISSING] = [1, 2, 4, 8, 16, 32];

/** A closed segment of one rendition. */
export interface DvrSegment {
  readonly msn: number;
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  readonly isIndependent: boolean;
  /** Name of its init segment; null for a gap. */
  readonly init: string | null;
  /** A gap of which nothing is known: viewers may have had its media while it was live. */
  readonly isMissing?: boolean;
}

/** Where the bytes of a segment are in the spool or the object store. */
export interface DvrPlace {
  /** Of the publisher, as in the span's name. */
  readonly epoch: number;
  readonly span: string;
  readonly offset: number;
  readonly length: number;
  /** Where its first picture ends, if that decodes alone. */
  readonly keyframeBytes?: number;
}

/** Consecutive rows as the lines of a playlist, and the same compressed, to be joined with other pieces. */
export interface ListPiece {
  readonly texts: readonly Buffer[];
  /** A run of DEFLATE blocks that ends at a byte and refers to nothing before it. */
  readonly deflated: Buffer;
}

/** Names that many rows share, each kept once. The first is nobody's. */
export class Names {
  readonly #names: string[] = [""];

  at(index: number): string {
    return this.#names[index] ?? "";
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  indexOf(name: string): number {
    const known = this.#names.lastIndexOf(name);
    return known < 0 ? this.#names.push(name) - 1 : known;
  }
}

/** Up to 512 rows of closed segments in typed arrays, 55 bytes each; their lines are written once. */
export class SegmentBlock {
  count = 0;
  readonly #inits: Names;
  readonly #flags = new Uint8Array(BLOCK_ROWS);
  readonly #init = new Uint16Array(BLOCK_ROWS);
  readonly #msn = new Float64Array(BLOCK_ROWS);
  readonly #timeMs = new Float64Array(BLOCK_ROWS);
  readonly #seconds = new Float64Array(BLOCK_ROWS);
  readonly #epoch = new Float64Array(BLOCK_ROWS);
  /** Of the first segment of the span; below 0 where the segment has no place. */
  readonly #spanMsn = new Float64Array(BLOCK_ROWS).fill(-1);
  readonly #offset = new Uint32Array(BLOCK_ROWS);
  readonly #length = new Uint32Array(BLOCK_ROWS);
  readonly #keyframeBytes = new Uint32Array(BLOCK_ROWS);
  /** The lines of the keyframes alone, once it is full and all are known. */
  #iFrames: ListPiece | null = null;
  /** The lines of the rows that are written so far. */
  #lines: Buffer = Buffer.alloc(0);
  /** End of each row in `#lines`. */
  readonly #ends = new Uint32Array(BLOCK_ROWS);
  #written = 0;
  #part: { readonly from: number; readonly to: number; readonly piece: ListPiece } | null = null;

  constructor(inits: Names) {
    this.#inits = inits;
  }

  get isFull(): boolean {
    return this.count === BLOCK_ROWS;
  }

  /** `hasTime`: the list says when it was; `hasMap`: another init segment is in force from here on. */
  add(segment: DvrSegment, { hasTime, hasMap }: { readonly hasTime: boolean; readonly hasMap: boolean }): void {
    const at = this.count++;
    const { init, discontinuity, isIndependent, isMissing = false } = segment;
    const isGap = [init === null && GAP, isMissing && MISSING];
    const flags = [...isGap, discontinuity && DISCONTINUITY, hasTime && HAS_TIME, hasMap && HAS_MAP];
    this.#flags[at] = flags.reduce<number>((sum, flag) => sum | Number(flag), isIndependent ? INDEPENDENT : 0);
    this.#init[at] = init === null ? 0 : this.#inits.indexOf(init);
    this.#msn[at] = segment.msn;
    this.#timeMs[at] = segment.programDateTimeMs;
    this.#seconds[at] = segment.seconds;
  }

  place(at: number, { epoch, span, offset, length, keyframeBytes = 0 }: DvrPlace): void {
    this.#keyframeBytes[at] = keyframeBytes;
    this.#epoch[at] = epoch;
    this.#spanMsn[at] = spanMsnOf(span);
    this.#offset[at] = offset;
    this.#length[at] = length;
  }

  placeAt(at: number): DvrPlace | null {
    const [spanMsn = -1, epoch = 0] = [this.#spanMsn[at], this.#epoch[at]];
    if (spanMsn < 0) return null;
    const [offset = 0, length = 0, keyframeBytes = 0] = [this.#offset[at], this.#length[at], this.#keyframeBytes[at]];
    return { epoch, span: spanName(epoch, spanMsn), offset, length, ...(keyframeBytes > 0 && { keyframeBytes }) };
  }

  segmentAt(at: number): DvrSegment {
    const isGap = this.#is(at, GAP);
    return {
      msn: this.msnAt(at),
      seconds: this.secondsAt(at),
      programDateTimeMs: this.#timeMs[at] ?? 0,
      discontinuity: this.isBreak(at),
      isIndependent: this.#is(at, INDEPENDENT),
      init: isGap ? null : this.#inits.at(this.#init[at] ?? 0),
      isMissing: this.#is(at, MISSING),
    };
  }

  msnAt(at: number): number {
    return this.#msn[at] ?? 0;
  }

  /** Milliseconds since the epoch. */
  timeAt(at: number): number {
    return this.#timeMs[at] ?? 0;
  }

  secondsAt(at: number): number {
    return this.#seconds[at] ?? 0;
  }

  isBreak(at: number): boolean {
    return this.#is(at, DISCONTINUITY);
  }

  /** Whether it begins with a picture that decodes alone. */
  hasPicture(at: number): boolean {
    return this.#is(at, INDEPENDENT) && !this.#is(at, GAP);
  }

  hasTime(at: number): boolean {
    return this.#is(at, HAS_TIME);
  }

  /** The init segment that a row names itself; null if it does not. */
  mapAt(at: number): string | null {
    return this.#is(at, HAS_MAP) ? this.#inits.at(this.#init[at] ?? 0) : null;
  }

  /** Index of the first row with this number or a later one. */
  find(msn: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.msnAt(middle) < msn) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether the lines of all its rows are written. */
  get isWritten(): boolean {
    return this.#written === BLOCK_ROWS;
  }

  lineAt(at: number): PlaylistSegment {
    const { seconds, programDateTimeMs, discontinuity, init, msn } = this.segmentAt(at);
    return {
      uri: dvrName(msn),
      duration: seconds,
      gap: init === null,
      programDateTimeMs: this.hasTime(at) ? programDateTimeMs : null,
      discontinuity,
      map: this.mapAt(at) ?? "",
      parts: [],
    };
  }

  /** The lines of the rows from `from` up to `to`, compressed by themselves. */
  piece(from: number, to: number): ListPiece {
    if (this.#part?.from !== from || this.#part.to !== to)
      this.#part = { from, to, piece: pieceOf([this.lines(from, to)]) };
    return this.#part.piece;
  }

  /** The lines of the rows from `from` up to `to`. Each row is written once. */
  lines(from = 0, to = BLOCK_ROWS): Buffer {
    this.#write(to);
    return this.#lines.subarray(from === 0 ? 0 : this.#ends[from - 1], to === 0 ? 0 : this.#ends[to - 1]);
  }

  get hasIFrames(): boolean {
    return this.#iFrames !== null;
  }

  /** A line for each row: its keyframe, or a gap, so that the numbers are those of the other lists. Kept of a full block all of whose rows are `settled`. */
  iFrames(from: number, to: number, isSettled: boolean): ListPiece {
    const isWhole = from === 0 && to === BLOCK_ROWS;
    if (this.#iFrames && isWhole) return this.#iFrames;
    let text = "";
    for (let at = from; at < to; at++) text += segmentText(this.iFrameLineAt(at), "");
    const piece = pieceOf([Buffer.from(text, "latin1")]);
    if (isWhole && isSettled) this.#iFrames = piece;
    return piece;
  }

  keyframeBytesAt(at: number): number {
    return this.#keyframeBytes[at] ?? 0;
  }

  /** Of the keyframe alone; a gap without one. */
  iFrameLineAt(at: number): PlaylistSegment {
    const length = this.keyframeBytesAt(at);
    return { ...this.lineAt(at), gap: length === 0, ...(length > 0 && { byteRange: { offset: 0, length } }) };
  }

  #write(to: number): void {
    if (this.#written >= to) return;
    let text = "";
    for (const before = this.#lines.byteLength; this.#written < to; this.#written++) {
      text += this.#line(this.#written);
      this.#ends[this.#written] = before + text.length;
    }
    this.#lines = Buffer.concat([this.#lines, Buffer.from(text, "latin1")]);
  }

  #line(at: number): string {
    return segmentText(this.lineAt(at), "");
  }

  #is(at: number, flag: number): boolean {
    return ((this.#flags[at] ?? 0) & flag) !== 0;
  }
}

/** Number of the first segment of a span, by its name. */
export function spanMsnOf(span: string): number {
  return Number(span.slice(span.indexOf("-") + 1, span.indexOf(".")));
}

/** A whole segment as it is stored, while live and after. `{msn}.m4s` is the same media in the bytes of its parts. */
export function dvrName(msn: number): string {
  return `d${msn}.m4s`;
}

/**
 * Neighbours are alike: what is more than 2 KB back has a longer reference and nothing new. In a window of 32 KB zlib finds longer matches there, and the
 * lists are a fifth larger.
 */
const DEFLATE = {
  level: constants.Z_BEST_COMPRESSION,
  windowBits: 11,
  memLevel: 9,
  finishFlush: constants.Z_FULL_FLUSH,
} as const;

export function pieceOf(texts: readonly Buffer[]): ListPiece {
  return { texts, deflated: deflateRawSync(texts.length === 1 ? (texts[0] as Buffer) : Buffer.concat(texts), DEFLATE) };
}
