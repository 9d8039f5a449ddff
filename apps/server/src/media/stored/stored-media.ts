import { fillFrom } from "../../platform/storage/fill.ts";
import { type ByteRange, ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition, StoredSegment } from "../../ports/index.ts";
import type { KeptSegments, MsnRange, SessionRendition } from "./session-media.ts";

/** Those that decoders need have some hundred bytes. */
const MAX_INIT_BYTES = 64 * 1024;

/** Media in the object store: the index says where, and this reads it. */
export class StoredMedia implements KeptSegments {
  readonly place = "store";
  readonly index: MediaIndex;
  readonly #store: Pick<ObjectStore, "read" | "fill">;

  constructor(index: MediaIndex, store: Pick<ObjectStore, "read" | "fill">) {
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

  async fill(rendition: string, segment: StoredSegment, views: readonly Uint8Array[]): Promise<number | null> {
    const { span, offset } = segment;
    if (this.#store.fill) return this.#store.fill(this.keyOf(rendition, span), views, offset);
    try {
      return await fillFrom(this.read(rendition, segment, { start: 0, end: sizeOf(views) - 1 }), views);
    } catch (error) {
      if (error instanceof ObjectNotFound) return null;
      throw error;
    }
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

const sizeOf = (views: readonly Uint8Array[]): number => views.reduce((bytes, view) => bytes + view.byteLength, 0);
