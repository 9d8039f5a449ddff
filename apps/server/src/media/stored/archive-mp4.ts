import { createHash } from "node:crypto";
import { FragmentEditor, TrackJoiner } from "@weir/formats/mp4";
import type { Slices } from "../../platform/slices.ts";
import type { ByteRange } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition } from "../../ports/index.ts";
import { bytesOf, Mp4Layout, type Piece, type Placed } from "./mp4-layout.ts";
import { SoundReader } from "./mp4-sound.ts";
import { Mp4Track } from "./mp4-track.ts";
import { asOneFragment } from "./one-fragment.ts";
import type { StoredMedia } from "./stored-media.ts";

const NOTHING = new Uint8Array();

/** Increase it when the layout of the bytes after the head changes, so that a resumed download never mixes two layouts. */
const LAYOUT = "5";

/**
 * Stored media as one MP4: a joint `moov`, a segment index per track, then one fragment with all tracks per segment. The media are the bytes of the
 * spans, with edited sequence numbers and with decode times from which gaps in the timeline are removed. If the recording has several decoder
 * configurations, parameter sets precede the first picture of each segment. Nothing is remuxed or stored; a range of the file maps to a few ranges
 * of spans.
 */
export class ArchiveMp4 {
  readonly size: number;
  readonly etag: string;
  readonly #head: Uint8Array;
  readonly #pieces: readonly Piece[];
  readonly #media: StoredMedia;

  private constructor(media: StoredMedia, head: Uint8Array, pieces: readonly Piece[], pieceBytes: number) {
    this.#media = media;
    this.#head = head;
    this.#pieces = pieces;
    this.size = head.byteLength + pieceBytes;
    // The head describes every byte after it.
    const digest = createHash("sha256").update(LAYOUT).update(head).digest("base64url");
    this.etag = `"${digest.slice(0, 22)}"`;
  }

  /** Builds the MP4 of one video rendition, by default the first. */
  static async build(media: StoredMedia, slices: Slices, video?: string): Promise<ArchiveMp4> {
    const tracks = await Promise.all(
      tracksOf(media.index, video).map((stored) => Mp4Track.open(stored, media, slices)),
    );
    const layout = new Mp4Layout(tracks);
    await slices.forEach(tracks[0]?.stored.segments ?? [], (segment) => layout.add(segment));
    return new ArchiveMp4(media, layout.head(), layout.pieces, layout.bytes);
  }

  /** Reads a range of the file, by default all of it. */
  async *read(range: ByteRange = { start: 0, end: this.size - 1 }): AsyncGenerator<Uint8Array, void> {
    const head = this.#head.byteLength;
    if (range.start < head) yield this.#head.subarray(range.start, range.end + 1);
    const behind = { start: range.start - head, end: range.end - head };
    const sound = new SoundReader((placed) => readPlaced(placed, this.#media));
    for (let n = this.#pieceAt(behind.start); n < this.#pieces.length; n++) {
      const piece = this.#pieces[n];
      if (!piece || piece.at > behind.end) return;
      yield* within(behind, piece.at, readPiece(piece, sound, this.#media));
    }
  }

  /** Index of the piece that contains a byte after the head. */
  #pieceAt(byte: number): number {
    let [low, high] = [0, this.#pieces.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#pieces[middle]?.at ?? 0) <= byte) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** One video rendition and the first audio rendition; the others have the same content. */
function tracksOf({ id, renditions }: MediaIndex, video: string | undefined): StoredRendition[] {
  const found = (["video", "audio"] as const).flatMap((kind) => {
    const isMeant = (name: string): boolean => kind === "audio" || video === undefined || name === video;
    const rendition = renditions.find(
      ({ rendition: name, track, segments }) =>
        track.kind === kind && isMeant(name) && segments.some(({ gap }) => !gap),
    );
    return rendition ? [rendition] : [];
  });
  if (found.length === 0) throw new Error(`the media of ${id} has no segments`);
  return found;
}

async function* readPiece(piece: Piece, sounds: SoundReader, media: StoredMedia): AsyncGenerator<Uint8Array, void> {
  const { first, sound, bytes } = piece;
  if (!sound) return yield* readPlaced(first, media);
  const joiner = new TrackJoiner(bytesOf(first), await sounds.read(sound), bytes);
  for await (const some of readPlaced(first, media)) yield* joiner.push(some);
  yield* joiner.end();
}

/** The fragments of a segment, edited for the file, in chunks as the store delivers them. */
async function* readPlaced(placed: Placed, media: StoredMedia): AsyncGenerator<Uint8Array, void> {
  const { rendition, segment, earlierTicks } = placed;
  let { sequence, prefix } = placed;
  const editor = new FragmentEditor(() => {
    const place = { sequence: ++sequence, earlierTicks, prefix };
    prefix = NOTHING;
    return place;
  });
  const stored = asOneFragment(segment, (range) => media.readSpan(rendition, segment.span, range));
  for await (const bytes of stored) yield* editor.push(bytes);
}

/** The part of a range that is in `source`, which starts at `at`. Reads no further. */
async function* within(range: ByteRange, at: number, source: AsyncIterable<Uint8Array>) {
  let position = at;
  for await (const bytes of source) {
    const from = Math.max(0, range.start - position);
    const to = Math.min(bytes.byteLength, range.end + 1 - position);
    if (from < to) yield bytes.subarray(from, to);
    position += bytes.byteLength;
    if (position > range.end) return;
  }
}
