import { expect, onTestFinished, test } from "vitest";
import { startTemporaryPostgres } from "../src/platform/postgres/temporary-postgres.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { TestBrowser } from "./support/browser.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";
import { WeirProcess } from "./support/weir-process.ts";

test("api, media and worker as three processes on one database: create here, publish and watch there, terminate here", async () => {
  const postgres = await startTemporaryPostgres();
  onTestFinished(() => postgres.close());
  const { host, port, user, database } = postgres.address;
  const DATABASE_URL = `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  const start = async (WEIR_ROLES: string, env: Record<string, string> = {}): Promise<WeirProcess> => {
    const weir = await WeirProcess.start({ env: { DATABASE_URL, WEIR_ROLES, ...env } });
    onTestFinished(() => weir[Symbol.asyncDispose]());
    return weir;
  };
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
