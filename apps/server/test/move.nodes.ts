import { afterAll, beforeAll, expect, test } from "vitest";
import { renditionUrl } from "./support/live-renditions.ts";
import { begunAt, newPartAt, numbersAt, watchAt } from "./support/moving-stream.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";

const NODES = ["a", "b", "c"] as const;
/** A day of numbers, beside 16 and those that passed meanwhile. */
const COMPUTED_GAP = 43_216;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(NODES, { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0" });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

test.each([
  { how: "reconnects", isTakeover: false },
  { how: "is replaced by another one, while it sends,", isTakeover: true },
])(
  "an encoder $how at another node: the session goes on without a hole in its numbers, and every node serves it",
  async ({ isTakeover }) => {
    await using staged = await StagedStream.create(nodes, { watchedAt: NODES });
    const first = await staged.publishAt("a");
    const { status } = await staged.untilState("live");
    for (const node of NODES) await staged.untilListed(node, 3);
    const viewers = await watchAt(nodes, NODES, staged);
    await staged.untilListed("c", await staged.newest());
    if (!isTakeover) await first.kill();
    const last = () => Math.max(...[...viewers.values()].flatMap(numbersAt));
    const before = isTakeover ? 0 : last();
    const movedAt = Date.now();
    const second = await staged.publishAt("b");
    expect(await first.ended).not.toBe(null);
    if (!isTakeover) {
      const since = await begunAt(nodes, status.sessionId, movedAt);
      for (const [node, viewer] of viewers) {
        const ms = (await newPartAt(viewer, before)) - since;
        figure(`first new part at ${node} after the first keyframe, in ms`, ms);
        expect(ms).toBeLessThan(1_000);
      }
    }
    const moved = last();
    for (const node of NODES) await staged.untilListed(node, moved + 2);
    await Promise.all([...viewers.values()].map((viewer) => viewer.stop()));
    for (const viewer of viewers.values()) {
      const numbers = numbersAt(viewer);
      expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    }
    const list = await (
      await fetch(await renditionUrl(nodes.node("a").weir.hlsUrl(staged.stream.playbackId), "source"))
    ).text();
    const breaks = list.split("#EXT-X-DISCONTINUITY\n").length - 1;
    const sequence = Number(/#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)/.exec(list)?.[1] ?? 0);
    expect(breaks + sequence).toBe(1);
    expect(staged.seen.lists.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    await second.stop();
    await staged.untilState("idle");
    await staged.wholeSession(status.sessionId, "c");
    expect(NODES.flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
  },
);

test("a node that has fallen silent is not waited for: the session goes on behind the computed gap, and that node lets it go", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["b", "c"] });
  const first = await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  for (const node of ["b", "c"]) await staged.untilListed(node, 3);
  const viewers = await watchAt(nodes, ["b", "c"], staged);
  await staged.untilListed("c", await staged.newest());
  const { pid } = nodes.node("a").weir;
  process.kill(pid, "SIGSTOP");
  const before = await staged.newest();
  const movedAt = Date.now();
  const second = await staged.publishAt("b");
  const since = await begunAt(nodes, status.sessionId, movedAt);
  for (const [node, viewer] of viewers) {
    const at = await newPartAt(viewer, before + COMPUTED_GAP - 1);
    figure(`first new part at ${node} after the first keyframe, in ms`, at - since);
  }
  process.kill(pid, "SIGCONT");
  expect(await first.ended).not.toBe(null);
  await staged.untilListed("c", before + COMPUTED_GAP);
  await Promise.all([...viewers.values()].map((viewer) => viewer.stop()));
  await second.stop();
  await staged.untilState("idle");
  await staged.wholeSession(status.sessionId, "c");
});
