import { FragmentEditor } from "@weir/formats/mp4";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { requireRoom } from "../../platform/storage/store-room.ts";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import { placeName } from "../recording/recording-keys.ts";
import type { ClipPiece } from "./clip-plan.ts";

/** A suitable object size for object stores. */
const FULL_BYTES = 8 * 1024 * 1024;
const EPOCH = 1;
const NOTHING = new Uint8Array();
/** More than any segment contains. */
const MAX_FRAGMENTS = 4096;

/** Writes the segments of one rendition of a clip to the store, in objects of about 8 MiB. */
export class ClipSpans {
  readonly #store: ObjectStore;
  readonly #prefix: string;
  readonly #timescale: number;
  readonly #rows: StoredSegment[] = [];
  readonly #spanBytes = new Map<string, number>();
  /** Name of the span being filled. */
  #span = "";
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(store: ObjectStore, prefix: string, timescale: number) {
    this.#store = store;
    this.#prefix = prefix;
    this.#timescale = timescale;
  }

  async putInit(name: string, bytes: Uint8Array): Promise<void> {
    await this.#store.put(`${this.#prefix}${name}`, bytes);
  }

  /** Copies a segment with timestamps shifted by `earlierTicks`. */
  async copy(piece: ClipPiece, earlierTicks: number, source: AsyncIterable<Uint8Array>): Promise<void> {
    let fragment = 0;
    const editor = new FragmentEditor(() => {
      const sequence = piece.msn * MAX_FRAGMENTS + fragment++;
      return { sequence, earlierTicks, prefix: NOTHING };
    });
    const pieces: Uint8Array[] = [];
    for await (const bytes of source) pieces.push(...editor.push(bytes));
    await this.add(piece, earlierTicks, pieces);
  }

  /** Adds the bytes made from a segment, which already have the clip's timestamps. */
  async add(piece: ClipPiece, earlierTicks: number, bytes: readonly Uint8Array[]): Promise<void> {
    const length = bytes.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (length === 0) return;
    const { msn, segment, fromTicks, toTicks } = piece;
    if (this.#pieces.length === 0) this.#span = `${placeName(EPOCH, msn)}.m4s`;
    this.#rows.push({
      ...segment,
      ...{ msn, epoch: EPOCH, startTicks: fromTicks - earlierTicks, durationTicks: toTicks - fromTicks },
      ...{ programDateTimeMs: this.#programDateTimeOf(piece), span: this.#span, offset: this.#bytes, length },
    });
    // A copy, because the reader may reuse its memory.
    this.#pieces.push(...bytes.map((each) => new Uint8Array(each)));
    this.#bytes += length;
    if (this.#bytes >= FULL_BYTES) await this.#put();
  }

  /** Adds segments that are in the store already, as separate objects. */
  async addMade(piece: ClipPiece, rows: readonly StoredSegment[]): Promise<void> {
    await this.#put();
    for (const row of rows) {
      const { discontinuity } = piece.segment;
      this.#rows.push({ ...row, programDateTimeMs: this.#programDateTimeOf(piece), discontinuity });
      this.#spanBytes.set(row.span, (this.#spanBytes.get(row.span) ?? 0) + row.length);
    }
  }

  async end({ rendition, track }: StoredRendition): Promise<StoredRendition> {
    await this.#put();
    return { rendition, track, segments: this.#rows.map(withDiscontinuity), spanBytes: this.#spanBytes };
  }

  #programDateTimeOf({ segment, fromTicks }: ClipPiece): number {
    return segment.programDateTimeMs + Math.round(((fromTicks - segment.startTicks) * 1000) / this.#timescale);
  }

  async #put(): Promise<void> {
    if (this.#pieces.length === 0) return;
    const bytes = Buffer.concat(this.#pieces);
    requireRoom(this.#store, bytes.byteLength);
    await this.#store.put(`${this.#prefix}${this.#span}`, bytes);
    this.#spanBytes.set(this.#span, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
  }
}

/**
 * A clip starts without a discontinuity. Its edges have their own decoder configurations but continuous times, for which RFC 8216bis 4.4.4.3
 * requires no discontinuity. At one, hls.js would align the decode times after it with the end of the previous pictures, and so put the video out of
 * sync with the audio.
 */
function withDiscontinuity(row: StoredSegment, nth: number): StoredSegment {
  return { ...row, discontinuity: nth > 0 && row.discontinuity };
}
