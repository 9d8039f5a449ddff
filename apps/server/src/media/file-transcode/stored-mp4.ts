import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex } from "../../ports/index.ts";
import type { ArchiveMp4 } from "../stored/archive-mp4.ts";

/** All bytes of an MP4 that is laid out over stored spans. */
export function readMp4(
  store: Pick<ObjectStore, "read">,
  { keyPrefix }: MediaIndex,
  mp4: ArchiveMp4,
): AsyncIterable<Uint8Array> {
  return mp4.read({ start: 0, end: mp4.size - 1 }, async function* (rendition, span, range) {
    yield* await store.read(`${keyPrefix}${rendition}/${span}`, range);
  });
}
