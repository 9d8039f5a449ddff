import { afterAll, beforeAll, expect, test } from "vitest";
import { Nodes, StagedStream } from "./support/nodes.ts";

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open();
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

test("two media processes: a takeover, a key without media, a cut from the database and a way back make one session and one picture", async () => {
  await using staged = await StagedStream.create(nodes);
  const first = await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  await staged.untilListed("a", 1);

  const second = await staged.publishAt("b");
  // The first one is told, and its list stays open.
  expect(await first.ended).not.toBe(null);
  await staged.connectWithoutMedia("a", 500);
  const { line } = nodes.node("b");
  line.fault = "cut";
  const last = await staged.untilListed("b", await staged.newest());
  await staged.untilState("reconnecting", 20_000);
  line.fault = "open";
  await staged.untilState("live");

  await second.kill();
  const third = await staged.publishAt("a");
  await staged.untilListed("a", last);
  await third.stop();
  await staged.untilState("idle");
  const session = await staged.recorded();
  expect(session.id).toBe(status.sessionId);
  expect(await staged.secondsOf(session, "b")).toBeCloseTo(session.sourceSegmentsDuration, 0);
  expect(await staged.states()).toEqual([true, false]);
  expect(staged.seen.clashes).toEqual([]);
  expect(["a", "b"].flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
});
