import { firstSampleAt } from "@weir/formats/mp4";
import type { StoredSegment, StoredTrack } from "../../ports/index.ts";
import { spanName } from "./layout.ts";

/** An object of this size suits an object store; a larger one would lose more if it is lost. */
const FULL_BYTES = 8 * 1024 * 1024;

/** Of a segment of a minute at 120 pictures per second, with room. */
const MAX_MOOF_BYTES = 256 * 1024;

/** A segment that has no place in a span yet. */
export type UnplacedSegment = Omit<StoredSegment, "epoch" | "gap" | "span" | "offset" | "length">;

/** The place of a segment without bytes. */
export const NO_BYTES = { gap: true, init: "", span: "", offset: 0, length: 0 } as const;

/** What an index tells of the picture that a segment of video begins with, by the bytes of the segment. */
export function keyframeOf(
  isIndependent: boolean | undefined,
  pieces: readonly Uint8Array[],
): Pick<StoredSegment, "keyframeBytes"> {
  let beginning: Uint8Array = new Uint8Array();
  for (const piece of isIndependent ? pieces : []) {
    beginning = Buffer.concat([beginning, piece.subarray(0, MAX_MOOF_BYTES)]);
    const found = firstSampleAt(beginning);
    if (found) return { keyframeBytes: found.end };
    if (beginning.byteLength >= MAX_MOOF_BYTES) break;
  }
  return {};
}

/** Consecutive segments of one rendition in one object. */
export interface StoredSpan {
  readonly rendition: string;
  readonly span: string;
  readonly track: StoredTrack;
  readonly segments: readonly StoredSegment[];
}

/**
 * Gives the segments of one rendition their places in spans, one after the other. It holds their bytes until they are taken; the caller puts them
 * into a file, a pipe or the object store.
 */
export class SpanWriter {
  readonly #epoch: number;
  #span = "";
  #bytes = 0;
  #segments: StoredSegment[] = [];
  #pieces: Uint8Array[] = [];

  constructor(epoch: number) {
    this.#epoch = epoch;
  }

  /** Adds a segment behind the others, or as the first of a new span. */
  add<Segment extends UnplacedSegment>(segment: Segment, pieces: readonly Uint8Array[]) {
    if (this.#segments.length === 0) this.#span = spanName(this.#epoch, segment.msn);
    const length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const placed = { ...segment, epoch: this.#epoch, gap: false, span: this.#span, offset: this.#bytes, length };
    this.#segments.push(placed);
    this.#pieces.push(...pieces);
    this.#bytes += length;
    return placed;
  }

  get isFull(): boolean {
    return this.#bytes >= FULL_BYTES;
  }

  /** The bytes added since the last call. */
  take(): Uint8Array[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  /** Ends the span: the next segment begins another. Null if it has no segment. */
  end(): (Pick<StoredSpan, "span" | "segments"> & { readonly pieces: readonly Uint8Array[] }) | null {
    if (this.#segments.length === 0) return null;
    const ended = { span: this.#span, segments: this.#segments, pieces: this.take() };
    this.#segments = [];
    this.#bytes = 0;
    return ended;
  }
}
