import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Asset, WeirClient } from "@weir/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { startPublisher } from "./support/publisher.ts";
import { runWeir, startWeir } from "./support/run-weir.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** Of the backup, each at another step. `KILLS=10` for a campaign. */
const KILLS = Number(process.env.KILLS ?? 4);
const FIRST_STEP_MS = 250;
const LAST_STEP_MS = 1_450;
/** Over before the restored server looks at what it has lost. */
const SETTINGS = { WEIR_RECONNECT_WINDOW_MS: "1000" };

const folder = makeTestFolder("backup");
let video: Blob;
beforeAll(async () => {
  const path = join(folder, "video.flv");
  const made = await startPublisher({ url: path, seconds: 2, inRealTime: false });
  expect(await made.ended).toBeNull();
  video = new Blob([readFileSync(path)]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** For one try of a test: what another one left would be in its way. */
const newFolder = (): string => mkdtempSync(join(folder, "try-"));

async function upload(client: WeirClient, name: string): Promise<Asset> {
  const profile = { name: "180p", width: 320, height: 180, bitrate: 200_000 };
  const source = { name, file: video, profiles: [profile] };
  const [asset] = await client.createAsset({ sources: [source] }, { memory: null }).assets;
  if (!asset) throw new Error("no asset");
  return asset;
}

/** The bytes of every segment that its playlists name. */
async function playedBytes(address: string): Promise<number> {
  const text = await (await fetch(address)).text();
  let bytes = 0;
  for (const [line] of text.matchAll(/^(?!#)\S+/gm)) {
    const url = new URL(line, address);
    if (url.pathname.endsWith(".m3u8")) bytes += await playedBytes(url.href);
    else {
      const answer = await fetch(url);
      expect(answer.status).toBe(200);
      bytes += (await answer.arrayBuffer()).byteLength;
    }
  }
  return bytes;
}

const hereAs = (url: string, { url: base }: WeirProcess): string => url.replace(/^http:\/\/[^/]+/, base);

test("a server that records and receives uploads is backed up through kills, and restored elsewhere with all that it had acknowledged", async () => {
  const place = newFolder();
  const to = join(place, "to");
  await using weir = await WeirProcess.start({ env: SETTINGS });
  const env = { WEIR_DATA_DIR: weir.dataFolder };
  const stream = await weir.client.streams.create({ name: "recorded", record: true, profiles: [] });
  const publisher = await startPublisher({ url: weir.publishUrl(stream.streamKey ?? ""), seconds: 90 });
  const acknowledged: Asset[] = [];
  const uploads = new AbortController();
  const uploading = (async () => {
    while (!uploads.signal.aborted) {
      acknowledged.push(await upload(weir.client, `upload ${acknowledged.length}`));
      await sleep(300);
    }
  })();
  await expect.poll(() => acknowledged.length).toBeGreaterThan(0);
  expect(await runWeir(["restore", to], { WEIR_DATA_DIR: join(place, "early") })).toMatchObject({ code: 1 });

  for (let kill = 0; kill < KILLS; kill++) {
    const running = startWeir(["backup", to], env);
    const step = FIRST_STEP_MS + ((LAST_STEP_MS - FIRST_STEP_MS) * kill) / KILLS;
    await Promise.race([sleep(step), running.exited]);
    running.child.kill("SIGKILL");
    await running.exited;
  }
  const [session] = (await weir.client.sessions.ofStream(stream.id)).items;
  const before = {
    assets: acknowledged.length,
    segments: (await weir.client.sessions.get(session?.id ?? "")).sourceSegments,
  };
  expect(before.segments).toBeGreaterThan(0);
  const backup = await runWeir(["backup", to, "--json"], env);
  expect([backup.code, backup.err]).toEqual([0, ""]);
  expect((await weir.client.streams.get(stream.id)).status.state).toBe("live");
  expect(await readdir(weir.dataFolder)).not.toContain("backup-links");
  uploads.abort();
  await uploading;
  await publisher.stop();
  await weir.stop();

  const elsewhere = { WEIR_DATA_DIR: join(place, "elsewhere") };
  for (const ms of [300, 700, 1100]) {
    const running = startWeir(["restore", to], elsewhere);
    await Promise.race([sleep(ms), running.exited]);
    running.child.kill("SIGKILL");
    await running.exited;
    // What a fast machine has restored by now is not in the way of the next.
    if (!existsSync(join(elsewhere.WEIR_DATA_DIR, "restoring.json")))
      rmSync(elsewhere.WEIR_DATA_DIR, { recursive: true, force: true });
    else
      expect(await runWeir(["start"], { ...elsewhere, WEIR_HTTP_PORT: "0" })).toMatchObject({
        code: 1,
        err: expect.stringContaining("a restore into"),
      });
  }
  expect(await runWeir(["restore", to], elsewhere)).toMatchObject({ code: 0, err: "" });
  expect(await runWeir(["restore", to], elsewhere)).toMatchObject({
    code: 1,
    err: expect.stringContaining("is not empty"),
  });
  await using restored = await WeirProcess.start({ dataFolder: elsewhere.WEIR_DATA_DIR, env: SETTINGS });
  for (const { id } of acknowledged.slice(0, before.assets)) {
    const asset = await restored.client.assets.get(id);
    expect(asset.status.phase).toBe("ready");
    expect(await playedBytes(hereAs(asset.playbackUrl ?? "", restored))).toBeGreaterThan(10_000);
  }
  await expect
    .poll(async () => (await restored.client.sessions.get(session?.id ?? "")).recordingStatus, { timeout: 60_000 })
    .toBe("ready");
  const recording = await restored.client.sessions.get(session?.id ?? "");
  expect(recording.sourceSegments).toBeGreaterThanOrEqual(before.segments);
  expect(recording.recordingError).toBeUndefined();
  expect(await playedBytes(hereAs(recording.recordingUrl ?? "", restored))).toBeGreaterThan(before.segments * 50_000);
  await restored.stop();

  const drill = await runWeir(["restore", to, "--drill", "--in", place, "--json"], {});
  expect([drill.err, JSON.parse(drill.out)]).toEqual(["", expect.objectContaining({ streams: 1, failures: [] })]);
  expect((await readdir(place)).filter((name) => name.startsWith("weir-drill"))).toEqual([]);
});

test("a data folder moves to PostgreSQL and a bucket, and back", async () => {
  const place = newFolder();
  const to = join(place, "moving");
  const s3 = await startS3TestServer();
  onTestFinished(() => s3.close());
  const postgres = await startTemporaryPostgres();
  onTestFinished(() => postgres.close());
  const { host, user } = postgres.address;
  const outer = {
    ...s3.env,
    DATABASE_URL: `postgresql://${user}@localhost/postgres?host=${host}`,
  };
  await using weir = await WeirProcess.start();
  const asset = await upload(weir.client, "that moves");
  await weir.client.webhooks.create({ name: "hook", url: "https://example.com/", events: ["stream.started"] });
  const played = await playedBytes(asset.playbackUrl ?? "");
  await weir.stop();
  const move = async (from: Record<string, string>, into: Record<string, string>) => {
    expect(await runWeir(["backup", to], from)).toMatchObject({ code: 0, err: "" });
    expect(await runWeir(["restore", to], into)).toMatchObject({ code: 0, err: "" });
  };

  const moved = { WEIR_DATA_DIR: join(place, "moved"), ...outer };
  await move({ WEIR_DATA_DIR: weir.dataFolder }, moved);
  await using there = await WeirProcess.start({ dataFolder: moved.WEIR_DATA_DIR, env: outer });
  expect(await playedBytes(hereAs((await there.client.assets.get(asset.id)).playbackUrl ?? "", there))).toBe(played);
  expect(await readdir(join(moved.WEIR_DATA_DIR, "objects")).catch(() => [])).toEqual([]);
  const second = await upload(there.client, "made there");
  expect(await runWeir(["restore", to], { ...moved, WEIR_DATA_DIR: join(place, "again") })).toMatchObject({
    code: 1,
    err: expect.stringContaining("already holds the data of a Weir"),
  });

  const back = { WEIR_DATA_DIR: join(place, "back") };
  await move(moved, back);
  await using home = await WeirProcess.start({ dataFolder: back.WEIR_DATA_DIR });
  for (const { id } of [asset, second])
    expect(await playedBytes(hereAs((await home.client.assets.get(id)).playbackUrl ?? "", home))).toBe(played);
  expect((await home.client.webhooks.list()).items.map(({ name }) => name)).toEqual(["hook"]);

  expect(await runWeir(["backup", to, "--verify"], {})).toMatchObject({ code: 0 });
  const objects = globSync("v1/**", { cwd: join(to, "objects"), withFileTypes: true });
  const { parentPath = "", name = "" } = objects.find((one) => one.isFile()) ?? {};
  const key = relative(join(to, "objects"), join(parentPath, name));
  truncateSync(join(to, "objects", key), 3);
  expect(await runWeir(["backup", to, "--verify"], {})).toMatchObject({ code: 1, err: expect.stringContaining(key) });
  const damaged = { WEIR_DATA_DIR: join(place, "damaged") };
  expect(await runWeir(["restore", to], damaged)).toMatchObject({
    code: 1,
    err: expect.stringContaining("is damaged"),
  });
});
