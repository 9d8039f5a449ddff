import { cp } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { Nodes, StagedStream } from "./support/nodes.ts";
import type { WeirProcess } from "./support/weir-process.ts";

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open(["a", "b"], { WEIR_ALLOW_PRIVATE_URLS: "1" });
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

test("a copied data folder: the second process does not start, says why, and the first one's stream goes on", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["a"] });
  await staged.publishAt("a");
  const before = await staged.untilState("live");
  const copy = makeTestFolder("copy");
  await cp(`${nodes.node("a").weir.dataFolder}/node-name`, `${copy}/node-name`);
  const started = nodes.start("copy", { dataFolder: copy, env: { WEIR_ROLES: "media" } });
  await expect(started).rejects.toThrow(/data folder is a copy of this one.*node-name/s);
  await sleep(10_000);
  expect((await staged.now()).status).toEqual(before.status);
});

test("a stop that a media node cannot be told is made up for by its next heartbeat", async () => {
  await using staged = await StagedStream.create(nodes, { watchedAt: ["a"] });
  const publisher = await staged.publishAt("a");
  await staged.untilState("live");
  nodes.node("a").line.isDeaf = true;
  const toldAt = Date.now();
  await nodes.api.client.streams.terminate(staged.stream.id);
  expect(await publisher.ended).not.toBe(null);
  const letGoMs = Date.now() - toldAt;
  nodes.node("a").line.isDeaf = false;
  expect(letGoMs).toBeLessThan(3_000);
  expect(await staged.states()).toEqual([true, false]);
});

test("ten targets at a move: one reconnect each, and no disconnect is told of what is sent to", async () => {
  await using target = await RtmpTestServer.start();
  const spec = (n: number) => ({ name: `target ${n}`, url: `rtmp://127.0.0.1:${target.port}/live/Right-Key` });
  const targets = Array.from({ length: 10 }, (_, n) => ({ profile: "source", spec: spec(n) }));
  await using staged = await StagedStream.create(nodes, { multistream: { targets }, record: false });
  await staged.publishAt("a");
  const areOnline = async () => {
    const { multistream } = await staged.now();
    return multistream.targets.filter(({ status }) => status?.state === "Online").length;
  };
  await expect.poll(areOnline, { timeout: 20_000 }).toBe(10);
  expect(target.publications).toHaveLength(10);
  const second = await staged.publishAt("b");
  await expect.poll(() => target.publications.length, { timeout: 20_000 }).toBe(20);
  await expect.poll(areOnline, { timeout: 20_000 }).toBe(10);
  // Longer than the reconnect window of the node that lost the stream.
  await sleep(33_000);
  expect(await areOnline()).toBe(10);
  expect(target.publications.map(({ ends }) => ends.length)).toEqual([...Array(10).fill(1), ...Array(10).fill(0)]);
  expect((await staged.told("multistream.")).toSorted()).toEqual(Array(20).fill("multistream.connected"));
  await second.stop();
  await staged.untilState("idle");
  expect((await staged.told("multistream.")).filter((name) => name.endsWith("disconnected"))).toHaveLength(10);
});

test("an upload at two api processes: the one without its bytes asks to try again, and replaces nothing", async () => {
  const other = (await nodes.start("api-2", { env: { WEIR_ROLES: "api" } })).weir;
  const { tusEndpoint, asset } = await nodes.api.client.assets.requestUpload({ name: "film" });
  const { pathname, search } = new URL(tusEndpoint);
  const bytes = Buffer.alloc(3_000_000, "a film. ");
  const ask = (url: string, method: string, headers: Record<string, string>, body: Buffer | null = null) =>
    fetch(url, { method, headers: { "tus-resumable": "1.0.0", ...headers }, body });
  const create = (at: WeirProcess, length: number) =>
    ask(at.url + pathname + search, "POST", { "upload-length": String(length) });
  const patch = (at: WeirProcess, offset: number, body: Buffer) => {
    const headers = { "content-type": "application/offset+octet-stream", "upload-offset": String(offset) };
    return ask(at.url + place, "PATCH", headers, body);
  };
  const created = await create(nodes.api, bytes.length);
  const place = new URL(created.headers.get("location") ?? "", nodes.api.url).pathname;
  expect((await patch(nodes.api, 0, bytes.subarray(0, 1_000_000))).status).toBe(204);

  expect((await ask(other.url + place, "HEAD", {})).status).toBe(503);
  expect((await patch(other, 1_000_000, bytes.subarray(1_000_000))).status).toBe(503);
  expect((await create(other, 10)).status).toBe(409);
  expect(
    (await fetch(other.url + pathname.replace("/tus", "/direct") + search, { method: "PUT", body: "other" })).status,
  ).toBe(409);

  expect((await patch(nodes.api, 1_000_000, bytes.subarray(1_000_000))).status).toBe(204);
  expect((await create(other, 10)).status).toBe(422);
  await expect
    .poll(async () => (await nodes.api.client.assets.get(asset.id)).size, { timeout: 20_000 })
    .toBe(bytes.length);
});
