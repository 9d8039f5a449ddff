import { type ByteRange, ObjectNotFound } from "../../platform/storage/object-store.ts";
import type { StoredSegment } from "../../ports/index.ts";
import type { LiveRendition } from "../packaging/live-rendition.ts";
import { storedBytesOf, storedRowOf } from "./live-rows.ts";
import type { MsnRange, SegmentSource, SessionRendition } from "./session-media.ts";
import { NO_BYTES } from "./span-writer.ts";
import { storedTrackOf } from "./stored-track.ts";

/** A rendition whose complete segments are in memory. */
export type ShownRendition = Pick<LiveRendition, "completed" | "segment">;

/** The complete segments of a session that are in memory, as they are stored: one fragment each. */
export class WindowSource implements SegmentSource {
  readonly place = "window";
  readonly #find: (rendition: string) => ShownRendition | undefined;

  constructor(find: (rendition: string) => ShownRendition | undefined) {
    this.#find = find;
  }

  async segments(name: string, { first, last }: MsnRange): Promise<SessionRendition<StoredSegment> | null> {
    const complete = this.#find(name)?.completed ?? [];
    const init = complete.find((segment) => segment.storedInit)?.storedInit;
    if (!init) return null;
    const track = storedTrackOf(init);
    const segments = complete
      .filter(({ msn }) => msn >= first && msn <= last)
      .map((segment) => {
        const row = { ...storedRowOf(segment, track), ...NO_BYTES, epoch: 0 };
        if (!segment.storedInit) return row;
        const length = storedBytesOf(segment).reduce((sum, { byteLength }) => sum + byteLength, 0);
        return { ...row, gap: false, init: segment.storedInit.name, length };
      });
    return { track, segments };
  }

  async *read(name: string, { msn }: StoredSegment, range?: ByteRange): AsyncGenerator<Uint8Array, void> {
    const segment = this.#find(name)?.segment(msn);
    if (!segment?.storedInit) throw new ObjectNotFound(`${name}/${msn} in the live window`);
    segment.retain();
    try {
      let at = 0;
      for (const bytes of storedBytesOf(segment)) {
        const { start, end } = range ?? { start: 0, end: Number.POSITIVE_INFINITY };
        const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
        if (part.byteLength > 0) yield part;
        at += bytes.byteLength;
      }
    } finally {
      segment.release();
    }
  }

  async readInit(name: string, init: string): Promise<Uint8Array | null> {
    const segment = this.#find(name)?.completed.find((each) => each.init?.name === init);
    return segment?.init?.bytes ?? null;
  }
}
