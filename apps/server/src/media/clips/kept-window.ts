import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { MediaIndex, StoredRendition } from "../../ports/index.ts";
import { placeName } from "../stored/layout.ts";
import { readJson } from "../stored/stored-files.ts";

const INDEXES = "indexes/";
const INDEX = "index.json";

/**
 * What a clip needs of a session that is not recorded, in the object store until the clip is made: files like those of a recording, and an index that
 * is written last. If the session moved, each node has written its part: no two nodes have the same epoch.
 */
export async function putWindow(store: ObjectStore, epoch: number, index: MediaIndex): Promise<void> {
  const { renditions, keyPrefix } = index;
  const plain = renditions.map((rendition) => ({ ...rendition, spanBytes: [...rendition.spanBytes] }));
  const firstMsn = Math.min(...renditions.map(({ segments }) => segments[0]?.msn ?? 0));
  const key = `${keyPrefix}${INDEXES}${placeName(epoch, firstMsn)}/${INDEX}`;
  await store.put(key, Buffer.from(JSON.stringify({ ...index, renditions: plain })));
}

/** Whether the part of the node with this epoch is there. */
export async function hasPart(store: ObjectStore, prefix: string, epoch: number): Promise<boolean> {
  const place = (await store.children(`${prefix}${INDEXES}`)).find((name) => name.startsWith(`${epoch}-`));
  return place !== undefined && (await store.size(`${prefix}${INDEXES}${place}/${INDEX}`)) !== null;
}

/** Null if nothing is there. */
export async function readWindow(store: ObjectStore, prefix: string): Promise<MediaIndex | null> {
  const parts: MediaIndex[] = [];
  for (const place of await store.children(`${prefix}${INDEXES}`)) {
    const part = await readPart(store, `${prefix}${INDEXES}${place}/${INDEX}`);
    if (part) parts.push(part);
  }
  const [first] = parts;
  const all = parts.flatMap(({ renditions }) => renditions);
  const renditions = [...Map.groupBy(all, ({ rendition }) => rendition).values()].map((same) => same.reduce(continued));
  return first ? { ...first, renditions } : null;
}

async function readPart(store: ObjectStore, key: string): Promise<MediaIndex | null> {
  const index = await readJson<MediaIndex>(store, key);
  if (!index) return null;
  const renditions = index.renditions.map((rendition) => ({ ...rendition, spanBytes: new Map(rendition.spanBytes) }));
  return { ...index, renditions };
}

/** A track of another timescale is left out: the times of a rendition have one. */
function continued(one: StoredRendition, other: StoredRendition): StoredRendition {
  if (one.track.timescale !== other.track.timescale) return one;
  const segments = new Map([...one.segments, ...other.segments].map((segment) => [segment.msn, segment]));
  return {
    ...one,
    segments: [...segments.values()].toSorted((a, b) => a.msn - b.msn),
    spanBytes: new Map([...one.spanBytes, ...other.spanBytes]),
  };
}
