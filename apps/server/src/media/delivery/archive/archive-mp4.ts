import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { FragmentEditor, type FragmentPlace, jointInit, segmentIndexes, TrackJoiner } from "@weir/formats/mp4";
import type { Slices } from "../../../platform/slices.ts";
import type { ByteRange } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../../ports/index.ts";
import { Mp4Track, type ReadInit } from "./mp4-track.ts";

/** The fragments of one segment of one track. */
interface Placed extends FragmentPlace {
  readonly rendition: string;
  readonly segment: StoredSegment;
}

interface Piece {
  readonly first: Placed;
  /** Of another track, joined with the first. */
  readonly second?: Placed;
  /** Where it stands behind the head. */
  readonly at: number;
}

const NOTHING = new Uint8Array();
/** Sound beside pictures is read whole before them; more of it than this stands behind them. */
const MAX_JOINED_BYTES = 256 * 1024;
/** Changes with the way in which the bytes behind a head are laid out: a download that goes on must not mix two. */
const LAYOUT = "2";

export type ReadSpan = (rendition: string, span: string, range: ByteRange) => AsyncIterable<Uint8Array>;

/** The timeline leaps at a restart of the server, and misses what could not be kept; a file of that is played by nobody. */
const LONGEST_HOLE_SECONDS = 1;
/** A segment holds fewer: parts of a third of a second, and at most 4,000 samples. */
const MAX_FRAGMENTS_PER_SEGMENT = 4096;

/**
 * Stored media as one MP4: a joint `moov`, a segment index for each track, then a fragment of all tracks for each segment. Its media are the
 * bytes of the spans; their description says where they stand: their number, and their time behind a hole in the timeline, which is left out. Parameter sets come
 * before the first picture of each segment, where the recording has several decoder configurations. Nothing
 * is remuxed or kept; a range of the file is a few ranges of spans.
 */
export class ArchiveMp4 {
  readonly size: number;
  readonly etag: string;
  readonly #head: Uint8Array;
  readonly #pieces: readonly Piece[];

  private constructor(head: Uint8Array, pieces: readonly Piece[], pieceBytes: number) {
    this.#head = head;
    this.#pieces = pieces;
    this.size = head.byteLength + pieceBytes;
    // The head tells of every byte behind it.
    const digest = createHash("sha256").update(LAYOUT).update(head).digest("base64url");
    this.etag = `"${digest.slice(0, 22)}"`;
  }

  static async build(index: MediaIndex, readInit: ReadInit, slices: Slices): Promise<ArchiveMp4> {
    const tracks = await Promise.all(tracksOf(index).map((stored) => Mp4Track.open(stored, readInit, slices)));
    const layout = new Layout(tracks);
    await slices.forEach(tracks[0]?.stored.segments ?? [], (segment) => layout.add(segment));
    return new ArchiveMp4(layout.head(), layout.pieces, layout.bytes);
  }

  /** The bytes of a range, as they are read. */
  async *read(range: ByteRange, readSpan: ReadSpan): AsyncGenerator<Uint8Array, void> {
    const head = this.#head.byteLength;
    if (range.start < head) yield this.#head.subarray(range.start, range.end + 1);
    const behind = { start: range.start - head, end: range.end - head };
    for (let n = this.#pieceAt(behind.start); n < this.#pieces.length; n++) {
      const piece = this.#pieces[n];
      if (!piece || piece.at > behind.end) return;
      yield* within(behind, piece.at, readPiece(piece, readSpan));
    }
  }

  /** Number of the piece that holds a byte behind the head. */
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

/** The first picture and the first sound that there are: what others there are hold the same. */
function tracksOf({ id, renditions }: MediaIndex): StoredRendition[] {
  const found = (["video", "audio"] as const).flatMap((kind) => {
    const rendition = renditions.find(({ track, segments }) => track.kind === kind && segments.some(({ gap }) => !gap));
    return rendition ? [rendition] : [];
  });
  if (found.length === 0) throw new Error(`the media of ${id} has no segments`);
  return found;
}

/** Where everything stands behind the head. The first track leads: what it has no row for is not in the file. */
class Layout {
  readonly pieces: Piece[] = [];
  bytes = 0;
  readonly #tracks: readonly { readonly track: Mp4Track; readonly starts: number[]; next: number; endTicks: number }[];
  readonly #segmentBytes: number[] = [];
  /** In the timescale of the track that leads, as everything without a track's name. */
  #leftOutTicks = 0;
  #endTicks = 0;

  constructor(tracks: readonly Mp4Track[]) {
    this.#tracks = tracks.map((track) => ({ track, starts: [], next: 0, endTicks: 0 }));
  }

  add(leading: StoredSegment): void {
    const [lead] = this.#tracks;
    // Sound goes on where there is no picture, but not where there is one of another codec, which the file cannot hold.
    if (!lead || (!leading.gap && !lead.track.holds(leading))) return;
    const { timescale } = lead.track;
    const holeTicks = leading.startTicks - this.#endTicks;
    const longest = LONGEST_HOLE_SECONDS * timescale;
    // The first picture is decoded before it is shown, and no decoding time can be negative.
    const kept = this.pieces.length === 0 ? longest : 0;
    const leftOut = this.#leftOutTicks + (holeTicks > longest ? holeTicks - kept : 0);
    const placed: Placed[] = [];
    const starts = this.#tracks.map((state) => {
      const { track } = state;
      const earlierTicks = Math.round((leftOut * track.timescale) / timescale);
      const segment = this.#segmentOf(state, leading.msn);
      if (!segment || !track.holds(segment)) {
        const startTicks = Math.round(((leading.startTicks - leftOut) / timescale) * track.timescale);
        return { startTicks, ticks: 0 };
      }
      const startTicks = segment.startTicks - earlierTicks;
      const sequence = (this.pieces.length + placed.length) * MAX_FRAGMENTS_PER_SEGMENT;
      const prefix = track.prefixOf(segment);
      placed.push({ rendition: track.stored.rendition, segment, sequence, earlierTicks, prefix });
      return { startTicks, ticks: segment.durationTicks };
    });
    if (placed.length === 0) return;
    const before = this.bytes;
    this.#put(placed);
    this.#leftOutTicks = leftOut;
    this.#endTicks = leading.startTicks + leading.durationTicks;
    this.#segmentBytes.push(this.bytes - before);
    for (const [n, state] of this.#tracks.entries()) {
      const { startTicks = 0, ticks = 0 } = starts[n] ?? {};
      state.starts.push(startTicks);
      state.endTicks = startTicks + ticks;
    }
  }

  #put([first, second, ...others]: readonly Placed[]): void {
    if (!first) return;
    const isJoined = second && bytesOf(second) <= MAX_JOINED_BYTES;
    this.pieces.push({ first, ...(isJoined && { second }), at: this.bytes });
    this.bytes += bytesOf(first) + (isJoined ? bytesOf(second) : 0);
    this.#put(isJoined || !second ? others : [second, ...others]);
  }

  head(): Uint8Array {
    const seconds = Math.max(...this.#tracks.map(({ track, endTicks }) => endTicks / track.timescale));
    const indexes = this.#tracks.map(({ track, starts, endTicks }) => {
      const { id: trackId, timescale } = track;
      return { trackId, timescale, starts, endTicks, isIndependent: true };
    });
    const init = jointInit(
      this.#tracks.map(({ track }) => track.joint),
      seconds,
    );
    return Buffer.concat([init, segmentIndexes(indexes, this.#segmentBytes)]);
  }

  /** Of the same number; both lists are in their order. */
  #segmentOf(state: { readonly track: Mp4Track; next: number }, msn: number): StoredSegment | undefined {
    const { segments } = state.track.stored;
    while ((segments[state.next]?.msn ?? msn) < msn) state.next++;
    const segment = segments[state.next];
    return segment?.msn === msn ? segment : undefined;
  }
}

function bytesOf({ segment, prefix }: Placed): number {
  return segment.length + prefix.byteLength;
}

async function* readPiece({ first, second }: Piece, readSpan: ReadSpan): AsyncGenerator<Uint8Array, void> {
  if (!second) return yield* readPlaced(first, readSpan);
  const joiner = new TrackJoiner(bytesOf(first), await buffer(readPlaced(second, readSpan)));
  for await (const bytes of readPlaced(first, readSpan)) yield* joiner.push(bytes);
  yield* joiner.end();
}

/** A segment's fragments as they stand in the file, in the pieces that the store gives. */
async function* readPlaced(placed: Placed, readSpan: ReadSpan): AsyncGenerator<Uint8Array, void> {
  const { rendition, segment, earlierTicks } = placed;
  let { sequence, prefix } = placed;
  const editor = new FragmentEditor(() => {
    const place = { sequence: ++sequence, earlierTicks, prefix };
    prefix = NOTHING;
    return place;
  });
  const range = { start: segment.offset, end: segment.offset + segment.length - 1 };
  for await (const bytes of readSpan(rendition, segment.span, range)) yield* editor.push(bytes);
}

/** What a range has of `source`, which stands at `at`. Reads no further than that. */
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
