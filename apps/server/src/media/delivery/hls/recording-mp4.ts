import {
  AUDIO_TRACK_ID,
  type IndexedSegment,
  type InitTrack,
  jointInit,
  segmentIndex,
  VIDEO_TRACK_ID,
} from "@weir/formats/mp4";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import type { RecordingIndex, RecordingRendition, RecordingSegment } from "../../../ports.ts";

/** Bytes of the store that stand somewhere in the file. */
interface Piece {
  readonly rendition: string;
  readonly span: string;
  readonly offset: number;
  readonly length: number;
}

/**
 * A recording as one MP4: a joint `moov`, a segment index, then the fragments of all tracks side by side, the very bytes of the spans.
 * Nothing is remuxed or kept; a range of the file is a few ranges of spans. One decoder configuration per track: where the source
 * changed its own, the file holds the longest-lasting one's segments.
 */
export class RecordingMp4 {
  readonly size: number;
  readonly #head: Uint8Array;
  readonly #pieces: readonly Piece[];

  constructor(index: RecordingIndex) {
    const tracks = index.renditions.filter(({ segments }) => segments.some(({ gap }) => !gap));
    const lead = tracks.find(({ track }) => track.kind === "video") ?? tracks[0];
    if (!lead) throw new Error(`the recording of session ${index.sessionId} has no segments`);
    const kept = tracks.map((rendition) => ({ rendition, byMsn: longestConfiguration(rendition) }));
    const pieces: Piece[] = [];
    const indexed: IndexedSegment[] = [];
    for (const leading of lead.segments) {
      let bytes = 0;
      for (const { rendition, byMsn } of kept) {
        const segment = byMsn.get(leading.msn);
        if (!segment) continue;
        const { span, offset, length } = segment;
        pieces.push({ rendition: rendition.rendition, span, offset, length });
        bytes += length;
      }
      if (bytes > 0) indexed.push({ bytes, durationTicks: leading.durationTicks, isIndependent: true });
    }
    const seconds = lead.segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / lead.track.timescale;
    const trackId = lead.track.kind === "video" ? VIDEO_TRACK_ID : AUDIO_TRACK_ID;
    this.#head = Buffer.concat([
      jointInit(tracks.map(initTrack), seconds),
      segmentIndex(trackId, lead.track.timescale, lead.segments[0]?.startTicks ?? 0, indexed),
    ]);
    this.#pieces = pieces;
    this.size = pieces.reduce((sum, { length }) => sum + length, this.#head.byteLength);
  }

  /** The bytes of a range, piece by piece. */
  async *read(
    range: ByteRange,
    readSpan: (rendition: string, span: string, range: ByteRange) => AsyncIterable<Uint8Array>,
  ) {
    if (range.start < this.#head.byteLength) yield this.#head.subarray(range.start, range.end + 1);
    let at = this.#head.byteLength;
    for (const { rendition, span, offset, length } of this.#pieces) {
      const start = Math.max(0, range.start - at);
      const end = Math.min(length - 1, range.end - at);
      if (start <= end) yield* readSpan(rendition, span, { start: offset + start, end: offset + end });
      at += length;
      if (at > range.end) return;
    }
  }
}

function longestConfiguration({ segments }: RecordingRendition): Map<number, RecordingSegment> {
  const lasting = new Map<string, number>();
  for (const { gap, init, durationTicks } of segments)
    if (!gap) lasting.set(init, (lasting.get(init) ?? 0) + durationTicks);
  const [longest] = [...lasting].toSorted((a, b) => b[1] - a[1])[0] ?? [""];
  return new Map(segments.filter(({ gap, init }) => !gap && init === longest).map((segment) => [segment.msn, segment]));
}

function initTrack({ track }: RecordingRendition): InitTrack {
  const config = Buffer.from(track.config, "base64");
  const { codec, timescale } = track;
  if (codec === "aac")
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
