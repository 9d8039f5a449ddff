import { FragmentEditor } from "@weir/formats/mp4";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { requireRoom } from "../../platform/storage/store-room.ts";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import { placeName } from "../recording/recording-keys.ts";
import type { ClipPiece } from "./clip-plan.ts";

/** One object of this size suits an object store. */
const FULL_BYTES = 8 * 1024 * 1024;
const EPOCH = 1;
const NOTHING = new Uint8Array();
/** A segment holds fewer fragments. */
const MAX_FRAGMENTS = 4096;

/** The segments of one rendition of a clip, put into the store in objects of some 8 MiB. */
export class ClipSpans {
  readonly #store: ObjectStore;
  readonly #prefix: string;
  readonly #timescale: number;
  readonly #rows: StoredSegment[] = [];
  readonly #spanBytes = new Map<string, number>();
  /** The span that is being filled. */
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

  /** A segment as it is, but earlier. */
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

  /** Add the bytes that were made of a segment, with the times of the clip in them. */
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
    // The store's reader may use its memory again.
    this.#pieces.push(...bytes.map((each) => new Uint8Array(each)));
    this.#bytes += length;
    if (this.#bytes >= FULL_BYTES) await this.#put();
  }

  /** Segments that are in the store already, by themselves. */
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
 * A clip begins without a discontinuity. Its edges have decoder configurations of their own and times that continue, which RFC 8216bis 4.4.4.3 allows without
 * one. hls.js would align the decode times behind each one with the end of the pictures before it, and move the pictures away from the audio.
 */
function withDiscontinuity(row: StoredSegment, nth: number): StoredSegment {
  return { ...row, discontinuity: nth > 0 && row.discontinuity };
}
