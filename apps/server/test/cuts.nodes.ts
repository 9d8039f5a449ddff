import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, test } from "vitest";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", "b", "c", "d"]);
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

/** A player with a full buffer shows no stall before its list stands still for longer than the live window behind its place: three segments. */
const STALL_MS = 6_000;

test.concurrent.for([
  ["cut", "a"],
  ["silent", "b"],
] as const)(
  "a media node alone without the database for 20 s (%s): the same session, no fact lost, and live again within 3 s of its return",
  async ([fault, node], { expect }) => {
    await using staged = await StagedStream.create(nodes, { watchedAt: [node] });
    const publisher = await staged.publishAt(node);
    const { status } = await staged.untilState("live");
    await staged.untilListed(node, 4);
    const { line } = nodes.node(node);
    line.fault = fault;
    const cutAt = Date.now();
    await staged.untilState("reconnecting", 15_000);
    while (Date.now() < cutAt + 20_000) {
      expect((await staged.now()).isActive).toBe(true);
      await sleep(500);
    }
    line.fault = "open";
    const backAt = Date.now();
    await staged.untilState("live", 10_000);
    const backMs = Date.now() - backAt;
    await sleep(6_000);
    const stallMs = staged.seen.longestStallMs(node, "source", cutAt, Date.now());
    await publisher.stop();
    await staged.untilState("idle");
    const session = await staged.recorded();
    figure("live again after, in ms", backMs, expect);
    figure("longest time without a new segment, in ms", stallMs, expect);
    expect(session.id).toBe(status.sessionId);
    expect(await nodes.missingSegments(session.id)).toEqual([]);
    expect(session.sourceSegments).toBe(await staged.untilListed(node));
    expect(await staged.secondsOf(session, "d")).toBeCloseTo(session.sourceSegmentsDuration, 0);
    expect(await staged.states()).toEqual([true, false]);
    expect(staged.seen.clashes).toEqual([]);
    expect(stallMs).toBeLessThan(STALL_MS);
    expect(backMs).toBeLessThan(3_000);
  },
);

test.concurrent("a media node alone without the database for 120 s: viewers see no stall, then its publisher reconnects into a new session", async ({
  expect,
}) => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["c"] });
  const publisher = await staged.publishAt("c");
  const { status } = await staged.untilState("live");
  await staged.untilListed("c", 4);
  const { line } = nodes.node("c");
  line.fault = "cut";
  const cutAt = Date.now();
  await staged.untilState("idle", 60_000);
  const idleMs = Date.now() - cutAt;
  await sleep(cutAt + 120_000 - Date.now());
  const stallMs = staged.seen.longestStallMs("c", "source", cutAt, Date.now());
  line.fault = "open";
  const backAt = Date.now();
  expect(await publisher.ended).not.toBe(null);
  figure("inactive after, in ms", idleMs, expect);
  figure("let go after, in ms", Date.now() - backAt, expect);
  figure("longest time without a new segment, in ms", stallMs, expect);
  const last = await staged.lastListed("c");
  const again = await staged.publishAt("c");
  const next = await staged.untilState("live");
  expect(next.status.sessionId).not.toBe(status.sessionId);
  await sleep(4_000);
  await again.stop();
  await staged.untilState("idle");
  const first = async () => (await staged.sessions()).find(({ id }) => id === status.sessionId);
  await expect.poll(async () => (await first())?.recordingStatus, { timeout: 60_000 }).toBe("ready");
  const session = await first();
  expect(session?.sourceSegments).toBe(last);
  expect(await nodes.missingSegments(status.sessionId ?? "")).toEqual([]);
  expect(await staged.states()).toEqual([true, false, true, false]);
  expect(staged.seen.clashes).toEqual([]);
  expect(idleMs).toBeGreaterThan(25_000);
  expect(stallMs).toBeLessThan(STALL_MS);
});
