import { FragmentEditor, type FragmentSample, parameterSetsOf, readInit, writeAudioFragment } from "@weir/formats/mp4";
import type { StoredRendition, StoredSegment } from "../../ports/index.ts";
import { RenditionWriter } from "../stored/rendition-writer.ts";
import type { UnplacedSegment } from "../stored/span-writer.ts";
import type { StoredFiles } from "../stored/stored-files.ts";
import type { ClipPiece } from "./clip-plan.ts";

const EPOCH = 1;
const NOTHING = new Uint8Array();
/** More than any segment contains. */
const MAX_FRAGMENTS = 4096;

export interface ClipRenditionSettings {
  readonly files: StoredFiles;
  readonly rendition: StoredRendition;
  /** Timestamps of the clip are this much smaller than its parent's, and what was skipped before them. */
  readonly earlierTicks: number;
  /** If so, each video segment starts with its own parameter sets: FFmpeg, GStreamer and VLC use only the first init segment of a playlist. */
  readonly hasSeveralInits: boolean;
}

/** Moves the segments of one rendition to the timeline of a clip, and stores them. All timestamps come in on the parent's timeline. */
export class ClipRendition {
  readonly #settings: ClipRenditionSettings;
  readonly #writer: RenditionWriter;
  /** By init segment. */
  readonly #parameterSets = new Map<string, Uint8Array>();

  constructor(settings: ClipRenditionSettings) {
    this.#settings = settings;
    this.#writer = new RenditionWriter(settings.files, settings.rendition.rendition, EPOCH);
  }

  /** Call before adding a segment that uses it. */
  async putInit(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#settings.hasSeveralInits) this.#parameterSets.set(name, parameterSetsOf(readInit(bytes).sampleEntry));
    await this.#writer.putInit(name, bytes);
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

  async end(): Promise<StoredRendition> {
    const { segments, ...rendition } = await this.#writer.end(this.#settings.rendition.track);
    return { ...rendition, segments: segments.map(withDiscontinuity) };
  }

  #editor(piece: ClipPiece, init: string): FragmentEditor {
    const { msn } = piece;
    const earlierTicks = this.#earlierTicks(piece);
    let fragment = 0;
    return new FragmentEditor(() => {
      const prefix = fragment === 0 ? this.#parameterSets.get(init) : undefined;
      return { sequence: msn * MAX_FRAGMENTS + fragment++, earlierTicks, prefix: prefix ?? NOTHING };
    });
  }

  /** The times of `row` are the parent's, those in `bytes` the clip's. */
  async #add(piece: ClipPiece, row: UnplacedSegment, bytes: readonly Uint8Array[]): Promise<void> {
    if (bytes.every(({ byteLength }) => byteLength === 0)) return;
    const startTicks = row.startTicks - this.#earlierTicks(piece);
    const programDateTimeMs = this.#programDateTimeOf(piece);
    await this.#writer.add({ ...row, msn: piece.msn, startTicks, programDateTimeMs }, bytes);
  }

  #earlierTicks({ skippedSeconds }: ClipPiece): number {
    const { earlierTicks, rendition } = this.#settings;
    return earlierTicks + Math.round(skippedSeconds * rendition.track.timescale);
  }

  #programDateTimeOf({ segment, fromTicks }: ClipPiece): number {
    const inside = ((fromTicks - segment.startTicks) * 1000) / this.#settings.rendition.track.timescale;
    return segment.programDateTimeMs + Math.round(inside);
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
