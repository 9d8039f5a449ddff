import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asset } from "@weir/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestBrowser } from "./support/browser.ts";
import { childOf, TokenSigner } from "./support/gated-broadcast.ts";
import { listedRenditions } from "./support/live-renditions.ts";
import { figure, Nodes, StagedStream } from "./support/nodes.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";
import type { WeirProcess } from "./support/weir-process.ts";

let nodes: Nodes;
beforeAll(async () => {
  // Each picks a free port.
  nodes = await Nodes.open(["a", "b"], { WEIR_CLUSTER_ADDRESS: "127.0.0.1:0", WEIR_TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

const at = (name: string): WeirProcess => nodes.node(name).weir;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test.concurrent("lists, parts, segments, inits and thumbnails of a stream are at the other node as at its own, and a blocked list waits", async ({
  expect,
}) => {
  await using staged = await StagedStream.create(nodes);
  await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("b", 3);
  // Names and bytes of both, collected while both are asked.
  await sleep(4_000);
  const namesOf = (node: string) =>
    new Set(staged.seen.lists.filter((list) => list.node === node).map((list) => list.rendition));
  expect(namesOf("b")).toEqual(namesOf("a"));
  expect(staged.seen.clashes).toEqual([]);
  expect(staged.seen.names).toBeGreaterThan(8);

  const [source] = await listedRenditions(at("b").hlsUrl(staged.stream.playbackId));
  const url = source?.url ?? "";
  const list = await (await fetch(url)).text();
  const [, msn, part] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)\.m4s"/.exec(list) ?? [];
  const askedAt = Date.now();
  const [blocked, hinted] = await Promise.all([
    fetch(`${url}?_HLS_msn=${msn}&_HLS_part=${part}`).then((answer) => answer.text()),
    fetch(new URL(`${msn}.${part}.m4s`, url)),
  ]);
  figure("blocked list and part through the other node, in ms", Date.now() - askedAt, expect);
  expect(blocked).toContain(`URI="${msn}.${part}.m4s"`);
  expect([hinted.status, hinted.headers.get("cache-control")]).toEqual([200, expect.stringContaining("immutable")]);
  const own = await fetch(new URL(`${msn}.${part}.m4s`, url.replace(at("b").url, at("a").url)));
  expect(hashOf(await hinted.bytes())).toBe(hashOf(await own.bytes()));
  expect(hinted.headers.get("content-type")).toBe(own.headers.get("content-type"));

  const image = await fetch(`${at("b").url}/hls/${staged.stream.playbackId}/source/latest.jpg`);
  expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
});

/** Longer than until a node has told the one that counts, and that one has reported. */
const COUNTED_MS = 24_000;

/** What views of a playback id say while one player asks the nodes in turn: viewers at each look, and views at the end. */
async function viewsOfOnePlayer(playbackId: string) {
  const headers = { "x-forwarded-for": "198.51.100.7", "user-agent": "one viewer" };
  const child = await childOf(at("b").hlsUrl(playbackId), headers);
  const { views } = nodes.api.client;
  const now: number[] = [];
  const until = Date.now() + COUNTED_MS;
  for (let turn = 0; Date.now() < until; turn++) {
    const url = turn % 2 === 0 ? child : child.replace(at("b").url, at("a").url);
    expect((await fetch(url, { headers })).status).toBe(200);
    now.push((await views.now({ playbackId }))[0]?.viewCount ?? 0);
    await sleep(500);
  }
  return { most: Math.max(...now), last: now.at(-1), views: (await views.total(playbackId)).viewCount };
}

test.concurrent("one player that asks two nodes in turn is one viewer and one view, of a live stream and of its recording", async ({
  expect,
}) => {
  await using staged = await StagedStream.create(nodes, { watchedAt: [] });
  const publisher = await staged.publishAt("a");
  await staged.untilState("live");
  expect(await viewsOfOnePlayer(staged.stream.playbackId)).toEqual({ most: 1, last: 1, views: 1 });
  await publisher.stop();
  const { recordingUrl = "" } = await staged.recorded();
  const playbackId = recordingUrl.split("/").at(-2) ?? "";
  expect(await viewsOfOnePlayer(playbackId)).toEqual({ most: 1, last: 1, views: 1 });
});

test("a gate: admitted at one node, watched at both, refused at both; strangers are not heard at the nodes' own address", async () => {
  await using staged = await StagedStream.create(nodes, {
    watchedAt: [],
    record: false,
    playbackPolicy: { type: "jwt" },
  });
  await staged.publishAt("a");
  await staged.untilState("live");
  const signer = await TokenSigner.create(nodes.api);
  const { playbackId } = staged.stream;
  const child = await childOf(`${at("b").hlsUrl(playbackId)}?jwt=${await signer.sign(playbackId)}`);
  const statusAt = async (node: string, url = child) => (await fetch(url.replace(at("b").url, at(node).url))).status;
  expect([await statusAt("a"), await statusAt("b")]).toEqual([200, 200]);
  expect(await statusAt("b", at("b").hlsUrl(playbackId))).toBe(401);
  const rows = await nodes.query<{ address: string }>("select address from node where address is not null");
  expect(rows).toHaveLength(4);
  for (const { address } of rows) {
    const headers = {
      "weir-admitted": "{}",
      authorization: `Weir x.${Math.floor(Date.now() / 1000)}.${"A".repeat(43)}`,
    };
    const answer = await fetch(`http://${address}/cluster/v1/forward/hls/${playbackId}/index.m3u8`, { headers });
    expect([answer.status, await answer.text()]).toEqual([403, ""]);
  }
  await signer.disable();
  await expect.poll(() => statusAt("b"), { timeout: 10_000 }).toBe(401);
  await expect.poll(() => statusAt("a"), { timeout: 10_000 }).toBe(401);
});

test("WHEP at the node that does not have the stream: pictures come from the one that has it, and DELETE finds it", async () => {
  const browser = await TestBrowser.open();
  await using staged = await StagedStream.create(nodes, { watchedAt: [], record: false });
  await staged.publishAt("a");
  await staged.untilState("live");
  await using page = await WebrtcPage.open(browser, at("b").url);
  const answer = await page.watch(`${at("b").url}/webrtc/${staged.stream.playbackId}`);
  expect([answer.status, answer.body.slice(0, 3)]).toEqual([201, "v=0"]);
  const figures = await page.until("3 s of pictures", ({ frames }) => frames > 75);
  figure("first picture by WHEP through the other node, in ms", figures.firstFrameMs ?? -1);
  const resource = new URL(answer.location ?? "", at("b").url);
  const ended = fetch(new URL(`${resource.pathname}/end`, at("b").url));
  expect((await fetch(resource, { method: "DELETE" })).status).toBe(200);
  expect((await ended).status).toBe(404);
  expect((await fetch(resource, { method: "DELETE" })).status).toBe(404);
});

test("WHIP is served where it arrives, and its DELETE at another node ends it", async () => {
  const browser = await TestBrowser.open();
  await using staged = await StagedStream.create(nodes, { watchedAt: [], record: false });
  await using page = await WebrtcPage.open(browser, at("b").url);
  const answer = await page.publish(`${at("b").url}/webrtc/${staged.stream.streamKey}`);
  expect(answer.status).toBe(201);
  await staged.untilState("live");
  const resource = new URL(answer.location ?? "", at("b").url).pathname;
  expect((await fetch(at("a").url + resource, { method: "DELETE" })).status).toBe(200);
  await staged.untilState("idle", 20_000);
});

test("a clip of what a node without the stream shows", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["b"], record: false });
  await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("b", 4);
  const endTime = Date.now() - 2_000;
  const { playbackId } = staged.stream;
  const { asset } = await nodes.api.client.clips.create({ playbackId, startTime: endTime - 3_000, endTime });
  const phase = async (): Promise<Asset["status"]["phase"]> =>
    (await nodes.api.client.assets.get(asset.id)).status.phase;
  await expect.poll(phase, { timeout: 40_000 }).toBe("ready");
});

test("an upload by tus, its requests in turn at two api processes, is the whole file", async () => {
  const other = (await nodes.start("api-2", { env: { WEIR_ROLES: "api" } })).weir;
  const { tusEndpoint, asset } = await nodes.api.client.assets.requestUpload({ name: "film" });
  const { pathname, search } = new URL(tusEndpoint);
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, n) => (n * 31 + (n >> 8)) & 255));
  const ask = (url: string, method: string, headers: Record<string, string>, body: Buffer | null = null) =>
    fetch(url, { method, headers: { "tus-resumable": "1.0.0", ...headers }, body });
  const created = await ask(nodes.api.url + pathname + search, "POST", { "upload-length": String(bytes.length) });
  const place = new URL(created.headers.get("location") ?? "", nodes.api.url).pathname;
  const step = 500_000;
  for (let offset = 0; offset < bytes.length; offset += step) {
    const turn = (offset / step) % 2 === 0 ? other : nodes.api;
    const head = await ask(turn.url + place, "HEAD", {});
    expect([head.status, head.headers.get("upload-offset")]).toEqual([200, String(offset)]);
    const headers = { "content-type": "application/offset+octet-stream", "upload-offset": String(offset) };
    const sent = await ask(turn.url + place, "PATCH", headers, bytes.subarray(offset, offset + step));
    expect([sent.status, sent.headers.get("upload-offset")]).toEqual([204, String(offset + step)]);
  }
  const keyOf = async () =>
    (await nodes.query<{ source_key: string | null }>(`select source_key from asset where id = '${asset.id}'`))[0]
      ?.source_key;
  await expect.poll(keyOf, { timeout: 20_000 }).toMatch(/./);
  const stored = await buffer(await nodes.bucket.read((await keyOf()) ?? ""));
  expect(hashOf(stored)).toBe(hashOf(bytes));
});

test("the owner is killed: what it alone has is refused at once, its copy stays, and goes on when the encoder is back at the other node", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["b"], record: false });
  await staged.publishAt("a");
  await staged.untilState("live");
  await staged.untilListed("b", 2);
  const { playbackId } = staged.stream;
  const child = await childOf(at("b").hlsUrl(playbackId));
  const statusOf = async (url: string) => (await fetch(url)).status;
  const still = `${at("b").url}/hls/${playbackId}/source/latest.jpg`;
  expect([await statusOf(child), await statusOf(still)]).toEqual([200, 200]);
  await at("a").kill();
  const askedAt = Date.now();
  expect([await statusOf(child), await statusOf(still)]).toEqual([200, 503]);
  expect(Date.now() - askedAt).toBeLessThan(2_500);
  const newest = await staged.newest();
  await staged.publishAt("b");
  await staged.untilListed("b", newest);
  await at("a").restart();
});
