import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LoadProcess } from "../src/roles/capacity/load-process.ts";
import { renditionUrl } from "./support/live-renditions.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import { PartLag } from "./support/part-lag.ts";
import { followParts, type PartTimes } from "./support/part-times.ts";
import { StrangeCamera } from "./support/strange-camera.ts";

const FOLLOWERS = ["b", "c", "d"] as const;
const VIEWERS = 20;
const WATCHED_MS = 60_000;
/** Three target durations of 2 s. */
const STALL_MS = 6_000;
const PARTS_PER_SECOND = 2.5;
/** Of 100 parts, 99 come to a follower's viewers within this time after the owner's. */
const BEHIND_MS = 50;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", ...FOLLOWERS], {
    ...{ WEIR_CLUSTER_ADDRESS: "127.0.0.1:0", WEIR_PULL_NETWORKS: "127.0.0.0/8" },
  });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

const watch = async (node: string, { stream }: StagedStream): Promise<PartTimes> =>
  followParts(await renditionUrl(nodes.node(node).weir.hlsUrl(stream.playbackId), "source"));

test("three followers with 20 low-latency viewers each: no stall, the owner's names and bytes, and parts soon after the owner's", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["a", ...FOLLOWERS], record: false });
  await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("d", 2);
  const urlAt = (node: string) => nodes.node(node).weir.hlsUrl(staged.stream.playbackId);
  const viewers = new LoadProcess();
  for (const node of FOLLOWERS) await viewers.order({ type: "watch", url: urlAt(node), count: VIEWERS });
  const lag = new PartLag(await Promise.all(["a", ...FOLLOWERS].map((node) => renditionUrl(urlAt(node), "source"))));
  await sleep(WATCHED_MS);
  const behind = lag.stop();
  const { failures, longestMs, requests } = await viewers.order({ type: "counts" });
  await viewers.stop();
  const each = requests / (FOLLOWERS.length * VIEWERS * 2);
  const [middle = Number.NaN, late = Number.NaN] = [0.5, 0.99].map(
    (share) => behind[Math.floor(behind.length * share)],
  );
  figure("parts at followers behind the owner's: number, p50 and p99 in ms", `${behind.length}, ${middle}, ${late}`);
  figure("longest wait for an answer, in ms", longestMs);
  expect(failures).toEqual([]);
  expect(longestMs).toBeLessThan(STALL_MS);
  // A list and a part.
  expect(each).toBeGreaterThan((WATCHED_MS / 1000) * PARTS_PER_SECOND * 2);
  expect(behind.length).toBeGreaterThan((WATCHED_MS / 1000) * PARTS_PER_SECOND * FOLLOWERS.length);
  expect(late).toBeLessThan(BEHIND_MS);
  expect(staged.seen.clashes).toEqual([]);
  expect(FOLLOWERS.flatMap((node) => staged.seen.fallsAt(node))).toEqual([]);
});

test("a follower that was stopped for 5 s catches up without a gap", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["a", "b"], record: false });
  await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("b", 2);
  const viewer = await watch("b", staged);
  await sleep(2_000);
  const { pid } = nodes.node("b").weir;
  process.kill(pid, "SIGSTOP");
  await sleep(5_000);
  process.kill(pid, "SIGCONT");
  await sleep(5_000);
  await viewer.stop();
  const numbers = [...new Set([...viewer.listedAt.keys()].map((uri) => Number(uri.split(".")[0])))];
  const first = numbers[0] ?? 0;
  expect(numbers).toEqual(numbers.map((_, index) => first + index));
  expect(numbers.length).toBeGreaterThan(4);
  expect(staged.seen.clashes).toEqual([]);
});

test("a source is pulled for a viewer at another node, for as long as that one watches, and again for the next one there", async () => {
  await using camera = await StrangeCamera.start({});
  const { client } = nodes.api;
  const pull = { source: camera.url, onlyWhileWatched: true };
  const { id, playbackId } = await client.streams.pull({ name: "watched", profiles: [], pull });
  const state = async () => (await client.streams.get(id)).status.state;
  const ask = async (node: string) => (await fetch(nodes.node(node).weir.hlsUrl(playbackId))).text();
  const all = ["a", ...FOLLOWERS];
  const puller = () => all.filter((node) => nodes.node(node).weir.log.includes(id));
  expect([await ask("a"), camera.connections, puller()]).toEqual([expect.stringContaining("offline"), 0, []]);
  await expect.poll(state, { timeout: 20_000 }).toBe("live");
  const [pulling] = puller();
  const other = all.find((node) => node !== pulling) ?? "";
  await expect.poll(() => ask(other), { timeout: 20_000 }).toContain("EXT-X-STREAM-INF");
  const viewer = followParts(await renditionUrl(nodes.node(other).weir.hlsUrl(playbackId), "source"));
  // Longer than a source is pulled for one question.
  await sleep(100_000);
  expect([camera.open, camera.connections]).toEqual([1, 1]);
  await viewer.stop();
  await expect.poll(() => camera.open, { timeout: 120_000 }).toBe(0);
  // Its node has it for some seconds more.
  await ask(other);
  await expect.poll(() => camera.open, { timeout: 10_000 }).toBe(1);
  await expect.poll(state, { timeout: 20_000 }).toBe("live");
  expect(puller()).toEqual([pulling]);
  await client.streams.delete(id);
}, 400_000);
