import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renditionUrl } from "./support/live-renditions.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import { followParts } from "./support/part-times.ts";

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", "b", "c"], { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0" });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

test("SIGTERM of the owner: its encoder goes on at another node in the same session, viewers see a short freeze, and its spool is empty", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["b", "c"] });
  const first = await staged.publishAt("a");
  const { status } = await staged.untilState("live");
  await staged.untilListed("c", 3);
  const viewer = followParts(await renditionUrl(nodes.node("c").weir.hlsUrl(staged.stream.playbackId), "source"));
  await expect.poll(() => viewer.listedAt.size).toBeGreaterThan(3);
  const before = await staged.newest();
  const signalledAt = Date.now();
  const { weir } = nodes.node("a");
  const exited = weir.stop().then((code) => ({ code, ms: Date.now() - signalledAt }));
  // An encoder that reconnects at once.
  expect(await first.ended).not.toBe(null);
  const second = await staged.publishAt("b");
  const { code, ms } = await exited;
  expect([code, ms < 10_000]).toEqual([0, true]);
  const isNew = ([uri]: readonly [string, number]) => Number(uri.split(".")[0]) > before + 2;
  const newAt = () => [...viewer.listedAt].find(isNew)?.[1] ?? 0;
  await expect.poll(newAt, { timeout: 15_000 }).toBeGreaterThan(0);
  const lastOld = Math.max(...[...viewer.listedAt].filter((listed) => !isNew(listed)).map(([, at]) => at));
  figure("exit after SIGTERM, in ms", ms);
  figure("freeze of a viewer at the third node, in ms", newAt() - lastOld);
  expect(newAt() - lastOld).toBeLessThan(4_000);
  expect(await readdir(join(weir.dataFolder, "spool"))).toEqual([]);
  await staged.untilListed("b", before + 3);
  await viewer.stop();
  await second.stop();
  await staged.untilState("idle");
  await staged.wholeSession(status.sessionId, "b");
  expect(staged.seen.lists.filter(({ hasEnded, at }) => hasEnded && at < newAt())).toEqual([]);
  await weir.restart();
});

test("with the database away a node is ready to be watched, and for nothing else", async () => {
  const { line, weir } = nodes.node("b");
  const statusOf = async (purpose: string) => (await fetch(`${weir.url}/readyz${purpose}`)).status;
  const all = () => Promise.all(["", "/publish", "/watch", "/api"].map(statusOf));
  expect(await all()).toEqual([200, 200, 200, 200]);
  line.fault = "cut";
  await expect.poll(all, { timeout: 10_000 }).toEqual([503, 503, 200, 503]);
  line.fault = "open";
  await expect.poll(all, { timeout: 10_000 }).toEqual([200, 200, 200, 200]);
});
