import { hash } from "node:crypto";
import {
  AUDIO_TRACK_ID,
  type IndexedSegment,
  type InitTrack,
  jointInit,
  moveFragmentsEarlier,
  segmentIndex,
  VIDEO_TRACK_ID,
} from "@weir/formats/mp4";
import type { Slices } from "../../../platform/slices.ts";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../../ports/index.ts";

/** Bytes of the store that stand somewhere in the file. */
interface Piece {
  readonly rendition: string;
  readonly span: string;
  readonly offset: number;
  readonly length: number;
  /** How much earlier than on the session's timeline its fragments are in the file, in ticks of its rendition. */
  readonly earlierTicks: number;
}

/** The timeline leaps at a restart of the server, and misses what had another decoder configuration; a file of that is played by nobody. */
const LONGEST_HOLE_SECONDS = 1;

/**
 * A recording as one MP4: a joint `moov`, a segment index, then the fragments of all tracks side by side, the very bytes of the spans,
 * but for their times behind a hole in the timeline, which is left out. Nothing is remuxed or kept; a range of the file is a few ranges of spans. One decoder configuration per track: where the source
 * changed its own, the file holds the longest-lasting one's segments.
 */
export class ArchiveMp4 {
  readonly size: number;
  readonly etag: string;
  readonly #head: Uint8Array;
  readonly #pieces: readonly Piece[];

  private constructor(head: Uint8Array, pieces: readonly Piece[]) {
    this.#head = head;
    this.#pieces = pieces;
    this.size = pieces.reduce((sum, { length }) => sum + length, head.byteLength);
    // The head tells of every byte behind it.
    this.etag = `"${hash("sha256", head, "base64url").slice(0, 22)}"`;
  }

  static async build(index: MediaIndex, slices: Slices): Promise<ArchiveMp4> {
    const tracks = index.renditions.filter(({ segments }) => segments.some(({ gap }) => !gap));
    const lead = tracks.find(({ track }) => track.kind === "video") ?? tracks[0];
    if (!lead) throw new Error(`the media of ${index.id} has no segments`);
    const kept = tracks.map((rendition) => ({ rendition, byMsn: longestConfiguration(rendition) }));
    const pieces: Piece[] = [];
    const indexed: IndexedSegment[] = [];
    const { timescale } = lead.track;
    let leftOutTicks = 0;
    let endTicks = lead.segments[0]?.startTicks ?? 0;
    await slices.forEach(lead.segments, (leading) => {
      const segments = kept.flatMap(({ rendition, byMsn }) => {
        const segment = byMsn.get(leading.msn);
        return segment ? [{ rendition, segment }] : [];
      });
      if (segments.length === 0) return;
      const holeTicks = leading.startTicks - endTicks;
      if (holeTicks > LONGEST_HOLE_SECONDS * timescale) leftOutTicks += holeTicks;
      endTicks = leading.startTicks + leading.durationTicks;
      let bytes = 0;
      for (const { rendition, segment } of segments) {
        const { span, offset, length } = segment;
        const earlierTicks = Math.round((leftOutTicks * rendition.track.timescale) / timescale);
        pieces.push({ rendition: rendition.rendition, span, offset, length, earlierTicks });
        bytes += length;
      }
      indexed.push({ bytes, durationTicks: leading.durationTicks, isIndependent: true });
    });
    const seconds = indexed.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / timescale;
    const trackId = lead.track.kind === "video" ? VIDEO_TRACK_ID : AUDIO_TRACK_ID;
    const head = Buffer.concat([
      jointInit(tracks.map(initTrack), seconds),
      segmentIndex(trackId, timescale, lead.segments[0]?.startTicks ?? 0, indexed),
    ]);
    return new ArchiveMp4(head, pieces);
  }

  /** The bytes of a range, piece by piece. */
  async *read(range: ByteRange, readSpan: ReadSpan): AsyncGenerator<Uint8Array, void> {
    if (range.start < this.#head.byteLength) yield this.#head.subarray(range.start, range.end + 1);
    let at = this.#head.byteLength;
    for (const piece of this.#pieces) {
      const { rendition, span, offset, length } = piece;
      const start = Math.max(0, range.start - at);
      const end = Math.min(length - 1, range.end - at);
      if (start <= end && piece.earlierTicks === 0)
        yield* readSpan(rendition, span, { start: offset + start, end: offset + end });
      else if (start <= end) yield (await readEarlier(piece, readSpan)).subarray(start, end + 1);
      at += length;
      if (at > range.end) return;
    }
  }
}

type ReadSpan = (rendition: string, span: string, range: ByteRange) => AsyncIterable<Uint8Array>;

/** A whole segment, which is a few seconds of media, with the times that it has in the file. */
async function readEarlier({ rendition, span, offset, length, earlierTicks }: Piece, readSpan: ReadSpan) {
  const pieces: Uint8Array[] = [];
  const range = { start: offset, end: offset + length - 1 };
  for await (const bytes of readSpan(rendition, span, range)) pieces.push(bytes);
  const segment = Buffer.concat(pieces);
  moveFragmentsEarlier(segment, earlierTicks);
  return segment;
}

function longestConfiguration({ segments }: StoredRendition): Map<number, StoredSegment> {
  const lasting = new Map<string, number>();
  for (const { gap, init, durationTicks } of segments)
    if (!gap) lasting.set(init, (lasting.get(init) ?? 0) + durationTicks);
  const [longest] = [...lasting].toSorted((a, b) => b[1] - a[1])[0] ?? [""];
  return new Map(segments.filter(({ gap, init }) => !gap && init === longest).map((segment) => [segment.msn, segment]));
}

function initTrack({ track }: StoredRendition): InitTrack {
  const config = Buffer.from(track.config, "base64");
  const { codec, timescale } = track;
  if (codec === "aac" || codec === "opus")
    return {
      kind: "audio",
      codec,
      config,
      timescale,
      sampleRate: track.sampleRate ?? timescale,
      channels: track.channels ?? 2,
    };
  return { kind: "video", codec, config, timescale, width: track.width ?? 0, height: track.height ?? 0 };
}
