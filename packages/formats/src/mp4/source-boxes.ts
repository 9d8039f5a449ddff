import { FormatError } from "../bits/index.ts";

/** A box of a foreign file, in memory. */
export interface SourceBox {
  readonly type: string;
  /** Without size and type. */
  readonly body: DataView;
}

/** Deeper nesting or more boxes side by side are in no file that plays. */
const MAX_BOXES = 4096;

/** The boxes within these bytes (ISO/IEC 14496-12 4.2). Throws `FormatError`. */
export function* boxesIn(bytes: DataView): Generator<SourceBox, void> {
  let count = 0;
  // Fewer bytes than a header are padding, which some writers leave.
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const { type, header, size } = boxHeadAt(bytes, at);
    const end = size === 0 ? bytes.byteLength : at + size;
    if (end > bytes.byteLength || ++count > MAX_BOXES) throw new FormatError(`a whole box ${type}`, at);
    yield { type, body: viewWithin(bytes, at + header, end) };
    at = end;
  }
}

/** Undefined where there is none. */
export function boxIn(bytes: DataView | undefined, ...path: readonly string[]): DataView | undefined {
  let found = bytes;
  for (const type of path) {
    if (!found) return undefined;
    let inner: DataView | undefined;
    for (const box of boxesIn(found)) inner ??= box.type === type ? box.body : undefined;
    found = inner;
  }
  return found;
}

/** `size`: of the whole box; 0: to the end. `header`: bytes of it, of which 16 must be there if the first four are 1. */
export function boxHeadAt(bytes: DataView, at: number): { type: string; header: number; size: number } {
  const short = bytes.getUint32(at);
  const type = typeAt(bytes, at + 4);
  if (short !== 1) {
    if (short !== 0 && short < 8) throw new FormatError("the size of a box", at);
    return { type, header: 8, size: short };
  }
  if (at + 16 > bytes.byteLength) throw new FormatError("the size of a box", at);
  const size = Number(bytes.getBigUint64(at + 8));
  if (size < 16 || size > Number.MAX_SAFE_INTEGER) throw new FormatError("the size of a box", at);
  return { type, header: 16, size };
}

export function typeAt(bytes: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map((offset) => bytes.getUint8(at + offset)));
}

export function viewWithin(bytes: DataView, from: number, to: number): DataView {
  if (from > to || to > bytes.byteLength) throw new FormatError(`${to} bytes`, bytes.byteLength);
  return new DataView(bytes.buffer, bytes.byteOffset + from, to - from);
}

/** What `read` returns. Reading past the end of a box throws `FormatError`. */
export function withinBox<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new FormatError("a whole box", 0);
    throw error;
  }
}

/** A table of rows behind its count. Its rows are read where they lie; the count is no more than fit. */
export class BoxTable {
  readonly count: number;
  readonly #body: DataView;
  readonly #from: number;
  readonly #width: number;

  /** `from`: where the rows begin, behind a count of four bytes. */
  constructor(body: DataView | undefined, width: number, from = 8) {
    this.#body = body ?? new DataView(new ArrayBuffer(0));
    this.#from = from;
    this.#width = width;
    const fit = Math.max(0, Math.floor((this.#body.byteLength - from) / width));
    this.count = this.#body.byteLength >= from ? Math.min(this.#body.getUint32(from - 4), fit) : 0;
  }

  /** The number at `column` bytes into a row; rows behind the last read as 0. */
  at(row: number, column = 0): number {
    return row < this.count ? this.#body.getUint32(this.#from + row * this.#width + column) : 0;
  }

  signedAt(row: number, column: number): number {
    return this.at(row, column) | 0;
  }

  longAt(row: number): number {
    return row < this.count ? Number(this.#body.getBigUint64(this.#from + row * this.#width)) : 0;
  }
}
