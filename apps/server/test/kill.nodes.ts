import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newPartAt, numbersAt, watchAt } from "./support/moving-stream.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

const OTHERS = ["b", "c"] as const;
const WINDOW_MS = 30_000;
const SPOOL_WAIT_MS = 50_000;
/** Three target durations of 2 s. */
const STALL_MS = 6_000;
/** A segment of these publishers, and what was on its way. */
const OPEN_SEGMENT_SECONDS = 3.5;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", ...OTHERS], {
    WEIR_CLUSTER_ADDRESS: "127.0.0.1:0",
    WEIR_SPOOL_WAIT_MS: String(SPOOL_WAIT_MS),
  });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

/** Another stream, which the kill has nothing to do with. */
async function bystander(): Promise<StagedStream> {
  const other = await StagedStream.create(nodes, { watchedAt: OTHERS, record: false });
  await other.publishAt("b");
  await other.untilState("live");
  for (const node of OTHERS) await other.untilListed(node, 2);
  return other;
}

const stallsOf = ({ seen }: StagedStream, from: number) =>
  OTHERS.map((node) => seen.longestStallMs(node, "source", from, Date.now() - 500));

test("kill -9 of the owner, and its encoder is back at another node after 1 s: new media at each of the others, and the recording has all but the open segment once the disk is back", async () => {
  await using other = await bystander();
  await using staged = await StagedStream.create(nodes, { watchedAt: OTHERS });
  const publishedFrom = Date.now();
  await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  for (const node of OTHERS) await staged.untilListed(node, 3);
  const viewers = await watchAt(nodes, OTHERS, staged);
  await staged.untilListed("c", await staged.newest());
  const before = Math.max(...[...viewers.values()].flatMap(numbersAt));
  const killedAt = Date.now();
  await nodes.node("a").weir.kill();
  await sleep(1_000);
  const again = await staged.publishAt("b");
  const publishedAgainFrom = Date.now();
  for (const [node, viewer] of viewers) {
    const ms = (await newPartAt(viewer, before + 2)) - killedAt;
    figure(`new media at ${node} after the kill, in ms`, ms);
    expect(ms).toBeLessThan(4_000);
  }
  for (const node of OTHERS) await staged.untilListed(node, before + 43_000);
  await Promise.all([...viewers.values()].map((viewer) => viewer.stop()));
  const publishedSeconds = (killedAt - publishedFrom + Date.now() - publishedAgainFrom) / 1000;
  await again.stop();
  await staged.untilState("idle");
  expect((await staged.sessions())[0]?.recordingStatus).toBe("waiting");
  await nodes.node("a").weir.restart();
  const backAt = Date.now();
  const session = await staged.recorded();
  figure("recording ready after the return of the node, in ms", Date.now() - backAt);
  expect(Date.now() - backAt).toBeLessThan(20_000);
  expect([session.id, session.recordingError]).toEqual([status.sessionId, undefined]);
  const seconds = await staged.secondsOf(session, "c");
  figure("seconds recorded, of those published", `${seconds.toFixed(1)} of ${publishedSeconds.toFixed(1)}`);
  expect(seconds).toBeCloseTo(session.sourceSegmentsDuration, 0);
  // What an encoder needs to begin is not published.
  expect(seconds).toBeGreaterThan(publishedSeconds - OPEN_SEGMENT_SECONDS - 2);
  expect(await staged.states()).toEqual([true, false]);
  expect(staged.seen.clashes).toEqual([]);
  expect(OTHERS.flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
  expect(staged.seen.lists.filter(({ hasEnded, at }) => hasEnded && at < backAt - 5_000)).toEqual([]);
  expect(Math.max(...stallsOf(other, killedAt))).toBeLessThan(STALL_MS);
});

test("kill -9 of the owner for good: reconnecting, ended with the window, and a recording with a gap that says so; other streams go on", async () => {
  await using other = await bystander();
  await using staged = await StagedStream.create(nodes, { watchedAt: OTHERS });
  await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  for (const node of OTHERS) await staged.untilListed(node, 3);
  // The first chapter of 30 s is in the bucket, the second is not.
  await staged.untilListed("b", 18, 50_000);
  const killedAt = Date.now();
  await nodes.node("a").weir.kill();
  await staged.untilState("reconnecting");
  figure("reconnecting after the kill, in ms", Date.now() - killedAt);
  expect(Date.now() - killedAt).toBeLessThan(10_500);
  expect((await staged.now()).isActive).toBe(true);
  await staged.untilState("idle", WINDOW_MS);
  const endedMs = Date.now() - killedAt;
  figure("ended after the kill, in ms", endedMs);
  expect(Math.abs(endedMs - WINDOW_MS)).toBeLessThan(3_000);
  expect(Math.max(...stallsOf(other, killedAt))).toBeLessThan(STALL_MS);
  const session = await staged.recorded(SPOOL_WAIT_MS + 20_000 - endedMs);
  figure("recording ready after the kill, in ms", Date.now() - killedAt);
  expect(session).toMatchObject({ id: status.sessionId, recordingError: expect.stringContaining("was lost") });
  expect(await staged.secondsOf(session, "c")).toBeGreaterThan(20);
  expect(await staged.states()).toEqual([true, false]);
  await nodes.node("a").weir.restart();
});
