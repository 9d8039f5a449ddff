import { openAsBlob } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { figure, Nodes } from "./support/nodes.ts";

const SECONDS = 120;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await Nodes.open([]);
});
afterAll(() => nodes?.[Symbol.asyncDispose]());

const video = (seconds: number) =>
  makeFile({
    format: "mp4",
    video: {
      encoder: "libx264",
      width: 640,
      height: 384,
      times: everyFrame(25, seconds),
      options: { preset: "ultrafast" },
    },
  });

async function upload(name: string, path: string) {
  const profiles = [{ name: "small", height: 360, bitrate: 500_000 }];
  const { asset, url } = await nodes.api.client.assets.requestUpload({ name, profiles });
  expect((await fetch(url, { method: "PUT", body: await openAsBlob(path) })).status).toBe(200);
  return asset.id;
}

const phaseOf = async (id: string) => (await nodes.api.client.assets.get(id)).status.phase;

test("a worker killed half-way: another one goes on within 45 s, and makes no finished chunk again", async () => {
  await using file = await video(SECONDS);
  const id = await upload("long", file.path);
  const [row] = await nodes.query<{ project_id: string }>(`select project_id from asset where id = '${id}'`);
  const prefix = `v1/${row?.project_id}/asset/${id}/out/1/notes/`;
  /** When each finished chunk was noted. */
  const notes = async () => {
    const names: string[] = [];
    for await (const key of nodes.objects.keys()) if (key.startsWith(prefix)) names.push(key);
    const dates = names.map(async (key) => {
      const answer = await fetch(await nodes.bucket.client.presign(key, 60_000));
      await answer.bytes();
      return [key, answer.headers.get("last-modified")] as const;
    });
    return new Map(await Promise.all(dates));
  };
  await expect.poll(async () => (await notes()).size, { timeout: 120_000 }).toBeGreaterThanOrEqual(2);
  await nodes.start("worker-2", { env: { WEIR_ROLES: "worker" } });
  const before = await notes();
  const killedAt = Date.now();
  await nodes.node("worker").weir.kill();
  await expect.poll(async () => (await notes()).size, { timeout: 90_000 }).toBeGreaterThan(before.size);
  const againMs = Date.now() - killedAt;
  figure("another worker's first chunk after the kill, in ms", againMs);
  expect(againMs).toBeLessThan(45_000);
  await expect.poll(() => phaseOf(id), { timeout: 200_000 }).toBe("ready");
  const after = await notes();
  for (const [name, madeAt] of before) expect(after.get(name)).toBe(madeAt);
  await nodes.node("worker").weir.restart();
});

test("two workers, ten assets: each is made once", async () => {
  await using file = await video(3);
  const ids = await Promise.all(Array.from({ length: 10 }, (_, nth) => upload(`short ${nth}`, file.path)));
  for (const id of ids) await expect.poll(() => phaseOf(id), { timeout: 180_000 }).toBe("ready");
  const made = await nodes.query<{ asset_id: string; tries: number }>(
    `select output_asset_id as asset_id, count(*)::int as tries from task where output_asset_id in (${ids.map((id) => `'${id}'`)}) group by 1`,
  );
  expect(made.map(({ tries }) => tries)).toEqual(Array(10).fill(1));
});
