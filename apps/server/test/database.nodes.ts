import { setTimeout as sleep } from "node:timers/promises";
import { test } from "vitest";
import { renditionUrl } from "./support/live-renditions.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import { followParts } from "./support/part-times.ts";

const NODES = ["a", "b"] as const;
/** Three target durations of 2 s. */
const STALL_MS = 6_000;
/** Longer than a lease, and the next look at all leases. */
const JUDGED_MS = 15_000;

/** A node that was declared gone joins again, which raises its epoch. */
const members = (nodes: Nodes) =>
  nodes.query<{ id: string; epoch: string; state: string }>("select id, epoch, state from node order by id");

/** The longest time that a viewer had no new part. */
function longestWait(listedAt: ReadonlyMap<string, number>, from: number): number {
  const times = [from, ...[...listedAt.values()].filter((time) => time >= from), Date.now()];
  return Math.max(...times.slice(1).map((time, nth) => time - (times[nth] ?? time)));
}

test.concurrent.for([20, 120])(
  "the database is stopped for %i s: no stall at owner and follower, no node is gone, every fact comes after it, and new publishers are let in",
  async (seconds, { expect }) => {
    await using nodes = await Nodes.open(NODES, { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0" });
    await using staged = await StagedStream.create(nodes, { watchedAt: NODES });
    await using late = await StagedStream.create(nodes, { watchedAt: [] });
    const publisher = await staged.publishAt("a");
    const { status } = await staged.untilState("live");
    for (const node of NODES) await staged.untilListed(node, 4);
    const hlsUrlAt = (node: string) => nodes.node(node).weir.hlsUrl(staged.stream.playbackId);
    const viewers = await Promise.all(
      NODES.map(async (node) => followParts(await renditionUrl(hlsUrlAt(node), "source"))),
    );
    const before = await members(nodes);

    await nodes.postgres.stop();
    const stoppedAt = Date.now();
    await sleep(seconds * 1_000);
    await nodes.postgres.start();
    const backAt = Date.now();
    const encoder = await late.publishAt("b");
    await late.untilState("live", 5_000);
    const servedMs = Date.now() - backAt;
    await sleep(JUDGED_MS);
    const waits = viewers.map(({ listedAt }) => longestWait(listedAt, stoppedAt));
    await Promise.all(viewers.map((viewer) => viewer.stop()));
    figure("longest waits for a part at owner and follower, in ms", waits.join(", "), expect);
    figure("a new publisher is live after, in ms", servedMs, expect);

    expect(await members(nodes)).toEqual(before);
    expect((await staged.now()).status).toMatchObject({ state: "live", sessionId: status.sessionId });
    await Promise.all([publisher.stop(), encoder.stop()]);
    await staged.untilState("idle");
    const session = await staged.recorded();
    expect(session.id).toBe(status.sessionId);
    expect(await nodes.missingSegments(session.id)).toEqual([]);
    expect(session.sourceSegments).toBe(await staged.lastListed("a"));
    expect(await staged.states()).toEqual([true, false]);
    expect(staged.seen.clashes).toEqual([]);
    expect(Math.max(...waits)).toBeLessThan(STALL_MS);
    expect(servedMs).toBeLessThan(5_000);
  },
);
