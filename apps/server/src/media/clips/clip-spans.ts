import { FragmentEditor, type FragmentSample, parameterSetsOf, readInit, writeAudioFragment } from "@weir/formats/mp4";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import { requireRoom } from "../../platform/storage/store-room.ts";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import { placeName } from "../stored/recording-keys.ts";
import type { ClipPiece } from "./clip-plan.ts";

/** A suitable object size for object stores. */
const FULL_BYTES = 8 * 1024 * 1024;
const EPOCH = 1;
const NOTHING = new Uint8Array();
/** More than any segment contains. */
const MAX_FRAGMENTS = 4096;

export interface ClipSpansSettings {
  readonly store: ObjectStore;
  readonly prefix: string;
  readonly timescale: number;
  /** Timestamps of the clip are this much smaller than its parent's. */
  readonly earlierTicks: number;
  /** If so, each video segment starts with its own parameter sets: FFmpeg, GStreamer and VLC use only the first init segment of a playlist. */
  readonly hasSeveralInits: boolean;
}

/** Writes the segments of one rendition of a clip to the store, in objects of about 8 MiB. All timestamps come in on the parent's timeline. */
export class ClipSpans {
  readonly #settings: ClipSpansSettings;
  /** By init segment. */
  readonly #parameterSets = new Map<string, Uint8Array>();
  readonly #rows: StoredSegment[] = [];
  readonly #spanBytes = new Map<string, number>();
  /** Name of the span being filled. */
  #span = "";
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(settings: ClipSpansSettings) {
    this.#settings = settings;
  }

  /** Call before adding a segment that uses it. */
  async putInit(name: string, bytes: Uint8Array): Promise<void> {
    const { store, prefix, hasSeveralInits } = this.#settings;
    if (hasSeveralInits) this.#parameterSets.set(name, parameterSetsOf(readInit(bytes).sampleEntry));
    await store.put(`${prefix}${name}`, bytes);
  }

  /** Copies a whole segment of the parent. */
  async copy(piece: ClipPiece, source: AsyncIterable<Uint8Array>): Promise<void> {
    const { segment, fromTicks, toTicks } = piece;
    const editor = this.#editor(piece, segment.init);
    const pieces: Uint8Array[] = [];
    for await (const bytes of source) pieces.push(...editor.push(bytes));
    await this.#add(piece, { ...segment, startTicks: fromTicks, durationTicks: toTicks - fromTicks }, pieces);
  }

  /** Adds a segment that was re-encoded from a piece. */
  async addEncoded(piece: ClipPiece, row: StoredSegment, bytes: Uint8Array): Promise<void> {
    const { discontinuity } = piece.segment;
    await this.#add(piece, { ...row, discontinuity }, this.#editor(piece, row.init).push(bytes));
  }

  /** Adds the audio samples of a piece. */
  async addSamples(piece: ClipPiece, samples: readonly FragmentSample[]): Promise<void> {
    if (samples.length === 0) return;
    const { msn, segment, fromTicks, toTicks } = piece;
    const bytes = this.#editor(piece, segment.init).push(Buffer.concat(writeAudioFragment(msn, samples)));
    await this.#add(piece, { ...segment, startTicks: fromTicks, durationTicks: toTicks - fromTicks }, bytes);
  }

  async end({ rendition, track }: StoredRendition): Promise<StoredRendition> {
    await this.#put();
    return { rendition, track, segments: this.#rows.map(withDiscontinuity), spanBytes: this.#spanBytes };
  }

  #editor({ msn }: ClipPiece, init: string): FragmentEditor {
    const { earlierTicks } = this.#settings;
    let fragment = 0;
    return new FragmentEditor(() => {
      const prefix = fragment === 0 ? this.#parameterSets.get(init) : undefined;
      return { sequence: msn * MAX_FRAGMENTS + fragment++, earlierTicks, prefix: prefix ?? NOTHING };
    });
  }

  /** The times of `row` are the parent's, those in `bytes` the clip's. */
  async #add(piece: ClipPiece, row: StoredSegment, bytes: readonly Uint8Array[]): Promise<void> {
    const length = bytes.reduce((sum, { byteLength }) => sum + byteLength, 0);
    if (length === 0) return;
    const { msn } = piece;
    if (this.#pieces.length === 0) this.#span = `${placeName(EPOCH, msn)}.m4s`;
    this.#rows.push({
      ...{ ...row, msn, epoch: EPOCH, startTicks: row.startTicks - this.#settings.earlierTicks },
      ...{ programDateTimeMs: this.#programDateTimeOf(piece), span: this.#span, offset: this.#bytes, length },
    });
    // A copy, because the reader may reuse its memory.
    this.#pieces.push(...bytes.map((each) => new Uint8Array(each)));
    this.#bytes += length;
    if (this.#bytes >= FULL_BYTES) await this.#put();
  }

  #programDateTimeOf({ segment, fromTicks }: ClipPiece): number {
    const inside = ((fromTicks - segment.startTicks) * 1000) / this.#settings.timescale;
    return segment.programDateTimeMs + Math.round(inside);
  }

  async #put(): Promise<void> {
    if (this.#pieces.length === 0) return;
    const { store, prefix } = this.#settings;
    const bytes = Buffer.concat(this.#pieces);
    requireRoom(store, bytes.byteLength);
    await store.put(`${prefix}${this.#span}`, bytes);
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
