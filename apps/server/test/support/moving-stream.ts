import { expect } from "vitest";
import { renditionUrl } from "./live-renditions.ts";
import type { Nodes, StagedStream } from "./nodes.ts";
import { followParts, type PartTimes } from "./part-times.ts";

const msnOf = (uri: string) => Number(uri.split(".")[0]);

/** A low-latency viewer at each of these nodes. */
export async function watchAt(
  nodes: Nodes,
  names: readonly string[],
  { stream }: StagedStream,
): Promise<Map<string, PartTimes>> {
  const viewers = names.map(async (node) => {
    const url = await renditionUrl(nodes.node(node).weir.hlsUrl(stream.playbackId), "source");
    return [node, followParts(url)] as const;
  });
  return new Map(await Promise.all(viewers));
}

/** The numbers of the segments whose parts a viewer has found listed, in order. */
export const numbersAt = ({ listedAt }: PartTimes): number[] => [...new Set([...listedAt.keys()].map(msnOf))];

/** Resolves when a part of a segment behind `last` is listed, with when that was. */
export async function newPartAt(viewer: PartTimes | undefined, last: number): Promise<number> {
  const found = () => [...(viewer?.listedAt ?? [])].find(([uri]) => msnOf(uri) > last)?.[1];
  await expect.poll(found, { timeout: 15_000, interval: 20 }).toBeDefined();
  return found() ?? 0;
}

/** When the first keyframe of an owner after `since` came, by the clock of its node. */
export async function begunAt(nodes: Nodes, sessionId: string | null | undefined, since: number): Promise<number> {
  let at = 0;
  const begun = async () => {
    const [row] = await nodes.query<{ at: string }>(
      `select began_at as at from session_epoch where session_id = '${sessionId}' order by epoch desc limit 1`,
    );
    at = Number(row?.at);
    return at;
  };
  await expect.poll(begun, { interval: 20 }).toBeGreaterThan(since);
  return at;
}
