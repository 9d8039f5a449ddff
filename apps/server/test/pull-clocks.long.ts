import { setTimeout as wait } from "node:timers/promises";
import type { StreamSlate } from "@weir/contract";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { sourcePlaylist } from "./support/outputs.ts";
import { checkTimes, recordedTimes } from "./support/recorded-times.ts";
import { type CameraHabits, StrangeCamera } from "./support/strange-camera.ts";

/** `CLOCK_MINUTES=1` for a quick look. */
const MINUTES = Number(process.env.CLOCK_MINUTES ?? 10);
/** 2^33 ticks of 90 kHz are 95,443.7 s. */
const WRAP_SECONDS = 95_443;

const arena = openArena({ env: { WEIR_PULL_NETWORKS: "127.0.0.0/8" } });

interface Outcome {
  readonly stalls: number;
  readonly longestStallMs: number;
  /** Pictures that are missing in the recording, as gaps. */
  readonly gaps: number;
  readonly hasRepairs: boolean;
  readonly recordedSeconds: number;
  readonly connections: number;
}

async function watch(name: string, habits: CameraHabits, slate: StreamSlate = "off"): Promise<Outcome> {
  const { client } = arena.weir;
  await using camera = await StrangeCamera.start(habits);
  const stream = await client.streams.pull({ name, profiles: [], record: true, slate, pull: { source: camera.url } });
  const now = async () => (await client.streams.get(stream.id)).status;
  await expect.poll(async () => (await now()).state, { timeout: 30_000 }).toBe("live");
  // A player that comes with the first segment has none to be behind, and stalls until it is, whatever the camera.
  const segments = async () => (await sourcePlaylist(arena.weir.hlsUrl(stream.playbackId))).match(/#EXTINF/g)?.length;
  await expect.poll(segments, { timeout: 30_000 }).toBeGreaterThanOrEqual(5);
  // Seconds behind, as most players are: a busy machine holds up one that is near the edge, and a camera that comes back within seconds does too.
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId), {}, { lowLatency: false });
  const before = await player.untilMoving(60);
  let hasRepairs = false;
  for (let second = 0; second < MINUTES * 60; second += 5) {
    await wait(5_000);
    hasRepairs ||= (await now()).issues?.some(({ code }) => code === "clock-repaired") === true;
  }
  const after = await player.untilMoving(30);
  expect(after.fatal).toBeNull();
  await player.close();
  await client.streams.terminate(stream.id);
  const times = await recordedTimes(arena.weir, stream.id);
  return {
    ...{
      stalls: after.stalls - before.stalls,
      longestStallMs: after.longestStallMs,
      gaps: checkTimes(times),
      hasRepairs,
    },
    recordedSeconds: Math.max(...times.video) - Math.min(...times.video),
    connections: camera.connections,
  };
}

// At the same time: each takes as long as the others.
test.concurrent("a camera whose pictures stray plays without stalls and is recorded whole", async () => {
  const strays = await watch("strays", { straysEverySeconds: 5 });
  expect(strays).toMatchObject({ stalls: 0, gaps: 0, connections: 1, hasRepairs: true });
  expect(strays.recordedSeconds).toBeGreaterThan(MINUTES * 60);
});

test.concurrent("a camera whose clock wraps after 26.5 hours plays without stalls and is recorded whole", async () => {
  const wraps = await watch("wraps", { startsAtSeconds: WRAP_SECONDS - 20 });
  expect(wraps).toMatchObject({ stalls: 0, gaps: 0, connections: 1, hasRepairs: false });
  expect(wraps.recordedSeconds).toBeGreaterThan(MINUTES * 60);
});

test.concurrent("a camera whose clock begins again with each connection plays with a slate, nearly without stalls, and only the time between them is missing", async () => {
  // Without a slate a player must stop for as long as the camera is away.
  const restarts = await watch("restarts", { leavesAfterSeconds: 20 }, "last-picture");
  // What it takes to connect is missing, so that a player comes nearer to the edge each time.
  expect(restarts.stalls).toBeLessThan(restarts.connections / 5);
  expect(restarts.connections).toBeGreaterThan(MINUTES * 2);
  expect(restarts.gaps).toBeLessThan(restarts.connections);
});
