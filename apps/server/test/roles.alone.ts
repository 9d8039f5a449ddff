import { expect, onTestFinished, test, vi } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres-rig.ts";
import { startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { TestBrowser } from "./support/browser.ts";
import { untilListed } from "./support/live-renditions.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";
import { WeirProcess } from "./support/weir-process.ts";

const CLIP_MS = 2_500;

/** Starts processes on one database. */
async function processes(env: Record<string, string> = {}) {
  const postgres = await startTemporaryPostgres();
  onTestFinished(() => postgres.close());
  const { host, port, user, database } = postgres.address;
  const DATABASE_URL = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  return async (WEIR_ROLES: string): Promise<WeirProcess> => {
    const weir = await WeirProcess.start({ env: { DATABASE_URL, WEIR_ROLES, ...env } });
    onTestFinished(() => weir[Symbol.asyncDispose]());
    return weir;
  };
}

test("api, media and worker as three processes on one database: create here, publish and watch there, terminate here", async () => {
  const start = await processes();
  const api = await start("api");
  const media = await start("media");
  await start("worker");
  const browser = await TestBrowser.open();
  onTestFinished(() => browser[Symbol.asyncDispose]());

  await using broadcast = await startBroadcast(api, { stream: { record: true, profiles: SMALL_LADDER } }, media);
  const player = await browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(60);
  await broadcast.untilSegments(1);

  await api.client.streams.terminate(broadcast.stream.id);
  expect(await broadcast.publisher.ended).not.toBe(null);
  const { recordingUrl } = await broadcast.recorded();
  const path = new URL(recordingUrl).pathname;
  expect(await fetch(media.url + path).then((response) => response.text())).toContain("#EXT-X-STREAM-INF");
});

test("a worker in another process makes clips of running broadcasts, recorded or not", async () => {
  const s3 = await startS3TestServer();
  onTestFinished(() => s3.close());
  const start = await processes(s3.env);
  const api = await start("api");
  const media = await start("media");
  await start("worker");
  for (const record of [true, false]) {
    await using broadcast = await startBroadcast(api, { stream: { record, profiles: [] } }, media);
    const listed = await untilListed(broadcast.hlsUrl, "source", 2);
    const startTime = (listed.at(-1)?.dateMs ?? Number.NaN) + 500;
    await vi.waitUntil(() => Date.now() > startTime + CLIP_MS, { timeout: 10_000 });
    const { playbackId } = broadcast.stream;
    const { asset } = await api.client.clips.create({ playbackId, startTime, endTime: startTime + CLIP_MS });
    const phase = async () => (await api.client.assets.get(asset.id)).status;
    await expect.poll(phase, { timeout: 40_000 }).toMatchObject({ phase: "ready" });
    expect((await api.client.assets.get(asset.id)).videoSpec?.duration).toBeCloseTo(CLIP_MS / 1000, 1);
  }
});
