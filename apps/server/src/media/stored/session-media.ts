import { type ByteRange, ObjectNotFound } from "../../platform/storage/object-store.ts";
import type { StoredSegment, StoredTrack } from "../../ports/index.ts";

/** Media sequence numbers, both inclusive. */
export interface MsnRange {
  readonly first: number;
  readonly last: number;
}

/** Where the bytes of a segment are: in the memory of the live window, in files that are not in the object store yet, or there. */
export type SegmentPlace = "window" | "spool" | "store";

/** A segment of a session and where it is. `span` and `offset` say where in the object store, once it is there; a gap has no bytes anywhere. */
export interface SessionSegment extends StoredSegment {
  readonly place: SegmentPlace;
}

/** Segments of one rendition, in order. Their times are in ticks of the track. */
export interface SessionRendition<Segment extends StoredSegment = SessionSegment> {
  readonly track: StoredTrack;
  readonly segments: readonly Segment[];
}

/** One of the places where segments of a session are. A segment has the same bytes in each. */
export interface SegmentSource {
  readonly place: SegmentPlace;
  /** What of the range is here; null if nothing is known of the rendition. */
  segments(rendition: string, range: MsnRange): Promise<SessionRendition<StoredSegment> | null>;
  /** The bytes of a segment, or a range of them, which counts from its first byte. Throws `ObjectNotFound` if it is not here any more. */
  read(rendition: string, segment: StoredSegment, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** Null if it is not here. */
  readInit(rendition: string, init: string): Promise<Uint8Array | null>;
}

/** A place where the bytes of segments outlast the live window. */
export interface KeptSegments extends SegmentSource {
  /** Fill `views` with the first bytes of a segment. Returns how many were read, or null if it is not here any more. */
  fill(rendition: string, segment: StoredSegment, views: readonly Uint8Array[]): Promise<number | null>;
}

/** Reads the media of one session by media sequence number, wherever it is now. */
export class SessionMedia {
  readonly #sources: readonly SegmentSource[];

  /** `sources`: in the order in which segments pass through them, the newest first. */
  constructor(sources: readonly SegmentSource[]) {
    this.#sources = sources;
  }

  /** The segments of a range. A source is asked only for what is older than all that those before it have. Null if nothing is known of the rendition. */
  async segments(rendition: string, { first, last }: MsnRange): Promise<SessionRendition | null> {
    let segments: SessionSegment[] = [];
    let track: StoredTrack | null = null;
    for (const source of this.#sources) {
      const found = await source.segments(rendition, { first, last: (segments[0]?.msn ?? last + 1) - 1 });
      if (!found) continue;
      // The oldest track is the one that the index of the recording has.
      const before = track;
      track = found.track;
      const known = before ? segments.map((segment) => rescaled(segment, before, found.track)) : segments;
      segments = [...found.segments.map((segment) => ({ ...segment, place: source.place })), ...known];
      if (segments[0] && segments[0].msn <= first) break;
    }
    return track && { track, segments };
  }

  /** The bytes of a segment, or a range of them, which counts from its first byte. It may have moved on since it was listed. Throws `ObjectNotFound`. */
  read(rendition: string, segment: SessionSegment, range?: ByteRange): AsyncIterable<Uint8Array> {
    const at = this.#sources.findIndex(({ place }) => place === segment.place);
    const rest = this.#sources.slice(Math.max(0, at));
    return readFirst(`${rendition}/${segment.msn}`, rest, async function* (source) {
      const { msn } = segment;
      const isListed = source.place === segment.place;
      const found = isListed ? segment : (await source.segments(rendition, { first: msn, last: msn }))?.segments[0];
      if (!found || found.gap) throw new ObjectNotFound(`${rendition}/${msn}`);
      yield* source.read(rendition, found, range);
    });
  }

  /** Null if it is nowhere. */
  async readInit(rendition: string, init: string): Promise<Uint8Array | null> {
    for (const source of this.#sources) {
      const bytes = await source.readInit(rendition, init);
      if (bytes) return bytes;
    }
    return null;
  }
}

/** The bytes from the first source that has any. Throws `ObjectNotFound` where none has. */
export async function* readFirst(
  name: string,
  sources: readonly SegmentSource[],
  read: (source: SegmentSource) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  for (const source of sources) {
    let hasBegun = false;
    try {
      for await (const bytes of read(source)) {
        hasBegun = true;
        yield bytes;
      }
      return;
    } catch (error) {
      if (hasBegun || !(error instanceof ObjectNotFound)) throw error;
    }
  }
  throw new ObjectNotFound(name);
}

/** The source changed its sound between them. */
function rescaled(segment: SessionSegment, from: StoredTrack, to: StoredTrack): SessionSegment {
  if (from.timescale === to.timescale) return segment;
  const inTicks = (ticks: number): number => Math.round((ticks * to.timescale) / from.timescale);
  const startTicks = inTicks(segment.startTicks);
  return { ...segment, startTicks, durationTicks: inTicks(segment.startTicks + segment.durationTicks) - startTicks };
}
