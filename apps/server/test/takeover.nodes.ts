import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", "b", "c", "d"]);
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

/** When a promise settled, in milliseconds after a moment. */
const after = async (since: number, settled: Promise<unknown>): Promise<number> => {
  await settled;
  return Date.now() - since;
};

test.each([
  { how: "by a notification", isDeaf: false, withinMs: 500 },
  { how: "by a heartbeat, where notifications do not arrive", isDeaf: true, withinMs: 3_000 },
])("a takeover at another node: the first publisher is told $how, and the recording shows one picture", async (row) => {
  await using staged = await StagedStream.create(nodes);
  const first = await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("a", 3);
  nodes.node("a").line.isDeaf = row.isDeaf;
  const begunAt = Date.now();
  const second = await staged.publishAt("b");
  const { status } = await staged.now();
  // The row names the new owner from its first keyframe on.
  let takenAt = 0;
  const epochOfB = async () => {
    const rows = await nodes.query<{ at: string }>(
      `select began_at as at from session_epoch where session_id = '${status.sessionId}' order by epoch desc limit 1`,
    );
    takenAt = Number(rows[0]?.at ?? 0);
    return takenAt;
  };
  const told = after(0, first.ended);
  await expect.poll(epochOfB, { interval: 20 }).toBeGreaterThan(begunAt);
  const letGoMs = (await told) - takenAt;
  nodes.node("a").line.isDeaf = false;
  expect(letGoMs).toBeLessThan(row.withinMs);
  await staged.untilListed("b", 2);
  await sleep(4_000);
  const stoppedAt = Date.now();
  await second.stop();
  await staged.untilState("idle");
  const session = await staged.recorded();
  expect(session.id).toBe(status.sessionId);
  const wallSeconds = (stoppedAt - session.createdAt) / 1000;
  const seconds = await staged.secondsOf(session, "a");
  figure("let go after, in ms", letGoMs);
  figure("seconds recorded, of those published", `${seconds.toFixed(1)} of ${wallSeconds.toFixed(1)}`);
  expect(Math.abs(seconds - wallSeconds)).toBeLessThan(4.5);
  expect(seconds).toBeCloseTo(session.sourceSegmentsDuration, 0);
  const rows = await nodes.query<{ late: string }>(`
    select count(*) as late from recording_segment r join session_epoch e on e.session_id = r.session_id and e.epoch > r.epoch
    where r.session_id = '${session.id}' and r.program_date_time >= e.began_at`);
  expect(Number(rows[0]?.late)).toBe(0);
  expect(staged.seen.clashes).toEqual([]);
  // What a node lost it does not end.
  expect(staged.seen.lists.filter(({ node, hasEnded }) => node === "a" && hasEnded)).toEqual([]);
  expect(await staged.states()).toEqual([true, false]);
});

test("A, B, A within the reconnect window: no name has two contents, and numbers only rise", async () => {
  await using staged = await StagedStream.create(nodes);
  const first = await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  let last = await staged.untilListed("a", 3);
  await first.kill();
  for (const node of ["b", "a"]) {
    const publisher = await staged.publishAt(node);
    await expect.poll(async () => (await staged.now()).status.state).toBe("live");
    const next = await staged.untilListed(node, last + 2);
    expect(next).toBeGreaterThan(last);
    last = next;
    if (node === "b") await publisher.kill();
    else await publisher.stop();
  }
  await staged.untilState("idle");
  const session = await staged.recorded();
  expect(session.id).toBe(status.sessionId);
  expect(staged.seen.names).toBeGreaterThan(30);
  expect(staged.seen.clashes).toEqual([]);
  expect(["a", "b"].flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
  const rows = await nodes.query<{ ticks: string }>(
    `select start_ticks as ticks from recording_segment where session_id = '${session.id}' and rendition = 'source' order by program_date_time`,
  );
  const ticks = rows.map((row) => Number(row.ticks));
  expect(ticks).toEqual(ticks.toSorted((x, y) => x - y));
  expect(await staged.secondsOf(session, "a")).toBeCloseTo(session.sourceSegmentsDuration, 0);
});

test.concurrent("a connection with the stream's key and no media at another node changes nothing", async ({
  expect,
}) => {
  await using staged = await StagedStream.create(nodes);
  const publisher = await staged.publishAt("a");
  const before = await staged.untilState("live");
  await staged.connectWithoutMedia("b", 1_500);
  const until = Date.now() + 35_000;
  while (Date.now() < until) {
    expect((await staged.now()).status).toEqual(before.status);
    await sleep(1_000);
  }
  await publisher.stop();
  await staged.untilState("idle");
  expect(await staged.states()).toEqual([true, false]);
});

test.concurrent("a node that cannot reach the database, and whose encoder sends on while another one takes over elsewhere, uses none of its successor's names", async ({
  expect,
}) => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["c", "d"] });
  const first = await staged.publishAt("c");
  const { status } = await staged.untilState("live");
  await staged.untilListed("c", 2);
  const { line } = nodes.node("c");
  line.fault = "cut";
  const second = await staged.publishAt("d");
  const begunAt = Date.now();
  await staged.untilListed("d", 20);
  // Longer than 16 segments: a successor that skipped only those would be met.
  await sleep(60_000);
  line.fault = "open";
  const backAt = Date.now();
  expect(await first.ended).not.toBe(null);
  const letGoMs = Date.now() - backAt;
  figure("let go after its return, in ms", letGoMs, expect);
  await sleep(2_000);
  await second.stop();
  const seconds = (Date.now() - begunAt) / 1000;
  await staged.untilState("idle");
  const session = await staged.recorded();
  expect(session.id).toBe(status.sessionId);
  expect(staged.seen.clashes).toEqual([]);
  expect(["c", "d"].flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
  expect(staged.seen.lists.filter(({ node, hasEnded }) => node === "c" && hasEnded)).toEqual([]);
  const [{ behind } = { behind: "" }] = await nodes.query<{ behind: string }>(`
    select count(*) as behind from recording_segment r join session_epoch e on e.session_id = r.session_id and e.epoch > r.epoch
    where r.session_id = '${session.id}' and r.program_date_time >= e.began_at`);
  expect(Number(behind)).toBe(0);
  expect(await staged.secondsOf(session, "d")).toBeLessThan(seconds + 15);
  expect(letGoMs).toBeLessThan(3_000);
});
