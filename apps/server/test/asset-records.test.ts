import { Livepeer } from "livepeer";
import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { makeClip } from "./support/flv-file.ts";
import { luringFiles } from "./support/luring-files.ts";
import { TrapServer } from "./support/trap-server.ts";

const arena = shareArena();

test("a file uploaded with the client plays, and is gone after deletion", async () => {
  const { weir, browser } = arena;
  const clip = await makeClip({ seconds: 3, inRealTime: false });
  const file = new Blob([new Uint8Array(clip)]);
  const creation = weir.client.createAsset({ sources: [{ name: "three seconds", file }] });
  const [asset = expect.fail("no asset")] = await creation.assets;
  expect(asset).toMatchObject({ type: "video", size: clip.length, status: { phase: "ready", isPlayable: true } });
  expect(asset.videoSpec?.duration).toBeCloseTo(3, 0);
  const info = await weir.client.playback.get(asset.playbackId);
  expect(info.type).toBe("vod");

  const player = await browser.playHls(asset.playbackUrl ?? "");
  await player.untilEnd();
  await player.close();
  const mp4 = await fetch(asset.downloadUrl ?? "", { headers: { range: "bytes=0-99" } });
  expect([mp4.status, mp4.headers.get("content-type"), mp4.headers.get("x-content-type-options")]).toEqual([
    206,
    "application/octet-stream",
    "nosniff",
  ]);
  const original = await fetch(asset.downloadUrl ?? "");
  expect(original.headers.get("content-disposition")).toContain(`filename="three seconds"`);
  expect(Buffer.from(await original.arrayBuffer()).equals(clip)).toBe(true);

  await weir.client.assets.delete(asset.id);
  await expect.poll(async () => (await fetch(asset.downloadUrl ?? "", { method: "HEAD" })).status).not.toBe(200);
  await weir.client.assets.restore(asset.id);
  await expect.poll(async () => (await fetch(asset.downloadUrl ?? "", { method: "HEAD" })).status).toBe(200);
});

test("the public SDK uploads a file, reads assets and tasks, updates and deletes them", async () => {
  const { weir } = arena;
  const sdk = new Livepeer({ apiKey: weir.apiKey, serverURL: `${weir.url}/api` });
  const requested = (await sdk.asset.create({ name: "by the SDK", staticMp4: true })).data ?? expect.fail("no data");
  const { id } = requested.asset;
  expect((await sdk.task.get(requested.task.id)).task).toMatchObject({ type: "upload", status: { phase: "pending" } });
  expect((await fetch(requested.url, { method: "PUT", body: "this is no video" })).status).toBe(200);
  await expect.poll(async () => (await sdk.asset.get(id)).asset?.status?.phase).toBe("failed");
  const { asset } = await sdk.asset.get(id);
  expect(asset?.status?.errorMessage).toMatch(/\.$/);
  expect((await sdk.asset.getAll()).data?.map((one) => one.id)).toContain(id);
  expect((await sdk.task.getAll()).data?.map((one) => one.id)).toContain(requested.task.id);
  expect((await sdk.asset.update({ name: "renamed" }, id)).asset?.name).toBe("renamed");
  await sdk.asset.delete(id);
  await expect(sdk.asset.get(id)).rejects.toMatchObject({ statusCode: 404 });
});

test("no uploaded file makes the server request a URL or read a local file", async () => {
  await using trap = await TrapServer.open();
  await fetch(`http://${trap.host}/`).catch(() => {});
  expect(trap.visits).toBe(1);
  const sources = [...luringFiles(trap.host)].map(([name, bytes]) => ({
    name: `${name}.mp4`,
    file: new Blob([new Uint8Array(bytes)]),
  }));
  const creation = arena.weir.client.createAsset({ sources }, { memory: null });
  await expect(creation.assets).rejects.toMatchObject({ code: "asset-failed" });
  for (const [index, source] of creation.progress.entries())
    expect([sources[index]?.name, source.phase]).toEqual([sources[index]?.name, "failed"]);
  expect(trap.visits).toBe(1);
});
