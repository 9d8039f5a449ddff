import { buffer } from "node:stream/consumers";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex } from "../../ports/index.ts";

/** A live window in the object store, kept until its clip is made: files like those of a recording, and this index, which is written last. */
const INDEX = "index.json";

export async function putWindow(store: ObjectStore, { renditions, ...index }: MediaIndex): Promise<void> {
  const plain = renditions.map((rendition) => ({ ...rendition, spanBytes: [...rendition.spanBytes] }));
  await store.put(`${index.keyPrefix}${INDEX}`, Buffer.from(JSON.stringify({ ...index, renditions: plain })));
}

/** Null until the window is complete. */
export async function readWindow(store: ObjectStore, prefix: string): Promise<MediaIndex | null> {
  try {
    const text = (await buffer(await store.read(`${prefix}${INDEX}`))).toString();
    // Trusted, since this server wrote it.
    const index = JSON.parse(text) as MediaIndex;
    const renditions = index.renditions.map((rendition) => ({ ...rendition, spanBytes: new Map(rendition.spanBytes) }));
    return { ...index, renditions };
  } catch (error) {
    if (error instanceof ObjectNotFound) return null;
    throw error;
  }
}
