import { filePieces } from "../../platform/storage/file-pieces.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { MsnRange, SegmentSource, SessionRendition } from "./session-media.ts";

/** Those that decoders need have some hundred bytes. */
const MAX_INIT_BYTES = 64 * 1024;

/** Media in the object store: the index says where, and this reads it. */
export class StoredMedia implements SegmentSource {
  readonly place = "store";
  readonly index: MediaIndex;
  readonly #store: Pick<ObjectStore, "read" | "pathOf">;

  constructor(index: MediaIndex, store: Pick<ObjectStore, "read" | "pathOf">) {
    this.index = index;
    this.#store = store;
  }

  async segments(rendition: string, { first, last }: MsnRange): Promise<SessionRendition<StoredSegment> | null> {
    const found: StoredRendition | undefined = this.index.renditions.find((each) => each.rendition === rendition);
    if (!found) return null;
    const { track, segments } = found;
    return { track, segments: segments.filter(({ msn }) => msn >= first && msn <= last) };
  }

  read(rendition: string, { span, offset, length }: StoredSegment, range?: ByteRange): AsyncIterable<Uint8Array> {
    const { start, end } = range ?? { start: 0, end: length - 1 };
    return this.readSpan(rendition, span, { start: offset + start, end: offset + Math.min(end, length - 1) });
  }

  async *pieces(
    rendition: string,
    segment: StoredSegment,
    range: ByteRange = { start: 0, end: segment.length - 1 },
  ): AsyncGenerator<Uint8Array, void> {
    const { span, offset } = segment;
    const path = await this.#store.pathOf?.(this.keyOf(rendition, span));
    if (path === undefined) yield* this.read(rendition, segment, range);
    else
      yield* filePieces(path, { start: offset + range.start, end: offset + Math.min(range.end, segment.length - 1) });
  }

  /** Throws `ObjectNotFound`. */
  async *readSpan(rendition: string, span: string, range: ByteRange): AsyncGenerator<Uint8Array, void> {
    yield* await this.#store.read(this.keyOf(rendition, span), range);
  }

  /** Null if it is missing, or far too large to be one. */
  async readInit(rendition: string, init: string): Promise<Uint8Array | null> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const piece of await this.#store.read(this.keyOf(rendition, init))) {
        bytes += piece.byteLength;
        if (bytes > MAX_INIT_BYTES) return null;
        pieces.push(piece);
      }
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
    return Buffer.concat(pieces);
  }

  keyOf(rendition: string, file: string): string {
    return `${this.index.keyPrefix}${rendition}/${file}`;
  }
}
