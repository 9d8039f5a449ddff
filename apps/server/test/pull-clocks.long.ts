import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { checkTimes, recordedTimes } from "./support/recorded-times.ts";
import { type CameraHabits, StrangeCamera } from "./support/strange-camera.ts";

/** `CLOCK_MINUTES=1` for a quick look. */
const MINUTES = Number(process.env.CLOCK_MINUTES ?? 10);
/** 2^33 ticks of 90 kHz are 95,443.7 s. */
const WRAP_SECONDS = 95_443;

const arena = openArena({ env: { WEIR_PULL_NETWORKS: "127.0.0.0/8" } });

interface Outcome {
  readonly stalls: number;
  /** Pictures that are missing in the recording, as gaps. */
  readonly gaps: number;
  readonly hasRepairs: boolean;
  readonly recordedSeconds: number;
  readonly connections: number;
}

async function watch(name: string, habits: CameraHabits): Promise<Outcome> {
  const { client } = arena.weir;
  await using camera = await StrangeCamera.start(habits);
  const stream = await client.streams.pull({ name, profiles: [], record: true, pull: { source: camera.url } });
  const now = async () => (await client.streams.get(stream.id)).status;
  await expect.poll(async () => (await now()).state, { timeout: 30_000 }).toBe("live");
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
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
    ...{ stalls: after.stalls - before.stalls, gaps: checkTimes(times), hasRepairs },
    recordedSeconds: Math.max(...times.video) - Math.min(...times.video),
    connections: camera.connections,
  };
}

test("cameras whose pictures stray, whose clock begins again, and whose clock wraps play without stalls and are recorded whole", async () => {
  const [strays, restarts, wraps] = await Promise.all([
    watch("strays", { straysEverySeconds: 5 }),
    watch("restarts", { leavesAfterSeconds: 20 }),
    watch("wraps", { startsAtSeconds: WRAP_SECONDS - 20 }),
  ]);
  for (const one of [strays, wraps]) {
    expect(one).toMatchObject({ stalls: 0, gaps: 0, connections: 1 });
    expect(one.recordedSeconds).toBeGreaterThan(MINUTES * 60);
  }
  expect([strays.hasRepairs, wraps.hasRepairs]).toEqual([true, false]);
  // Nothing is sent between two connections; nothing else is missing.
  expect(restarts.connections).toBeGreaterThan(MINUTES * 2);
  expect(restarts.gaps).toBeLessThan(restarts.connections);
});
