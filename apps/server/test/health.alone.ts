import type { StreamHealth } from "@weir/contract";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type BroadcastOptions, startBroadcast } from "./support/broadcast.ts";
import { newestTranscoder, SMALL_LADDER } from "./support/transcoding.ts";
import { WeirProcess } from "./support/weir-process.ts";

const arena = openArena();

/** So little to transcode that also a machine which others keep busy does it in real time: less is unhealthy, and rightly so. */
const LIGHT = {
  width: 320,
  height: 180,
  frameRate: 10,
  stream: { profiles: [{ name: "128p0", width: 228, height: 128, bitrate: 60_000, fps: 0 }] },
} as const satisfies BroadcastOptions;

const statuses = ({ healthy, conditions }: StreamHealth) =>
  Object.fromEntries([["healthy", healthy.status], ...conditions.map(({ type, status }) => [type, status])]);

test("a stream is unknown, then healthy, then idle; the record is the same after a restart", async () => {
  const { weir } = arena;
  const fresh = await weir.client.streams.create({ name: "fresh" });
  expect(statuses(await weir.client.streams.health(fresh.id))).toMatchObject({ healthy: null, Active: null });

  await using broadcast = await startBroadcast(weir, LIGHT);
  const health = () => weir.client.streams.health(broadcast.stream.id);
  await expect
    .poll(async () => statuses(await health()), { timeout: 30_000 })
    .toEqual({
      healthy: true,
      Active: true,
      Transcoding: true,
      TranscodeRealTime: true,
      TranscodeNoErrors: true,
      Multistreaming: null,
    });
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  await expect.poll(async () => (await health()).healthy.status).toBe(false);

  await weir.stop();
  await weir.restart();
  const before = await health();
  await weir.kill();
  await weir.restart();
  expect(await health()).toEqual(before);
  expect(before.metrics).toMatchObject({ MediaTimeMillis: [{}], TranscodeRealtimeRatio: [{}] });
});

test("a refused ladder is reported within its first segments: transcoding is unhealthy", async () => {
  await using weir = await WeirProcess.start({ env: { WEIR_TRANSCODE_CORES: "0" } });
  await using broadcast = await startBroadcast(weir, { stream: { profiles: SMALL_LADDER } });
  const health = async () => statuses(await weir.client.streams.health(broadcast.stream.id));
  await expect.poll(health).toMatchObject({ healthy: false, Active: true, Transcoding: false });
});

test("a hanging transcoder is reported, and its stream is healthy again after it was replaced", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, LIGHT);
  const health = async () => statuses(await weir.client.streams.health(broadcast.stream.id));
  const healthy = { healthy: true, Transcoding: true, TranscodeRealTime: true };
  await expect.poll(health, { timeout: 30_000 }).toMatchObject(healthy);
  process.kill(newestTranscoder(weir), "SIGSTOP");
  await expect.poll(health).toMatchObject({ healthy: false, Active: true });
  await expect.poll(health, { timeout: 30_000 }).toMatchObject(healthy);
});
