import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { expectWholeRecording, experienceOf, measured, told } from "./support/bystander.ts";
import { backendPids, postmasterPid } from "./support/embedded-database.ts";
import { childOf, startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";

const HEALED_WITHIN_MS = 20_000;
const OUTAGE_MS = 30_000;
const arena = openArena();

/** Statements are always in flight, as under API load. Afterwards the API key, whose requests a second that may have used up, is served again. */
async function whileApiIsBusy(work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const call = async (): Promise<void> => {
    while (!stop.signal.aborted) await arena.weir.client.streams.list().catch(() => wait(20));
  };
  const calls = Promise.all(Array.from({ length: 8 }, call));
  try {
    await work();
  } finally {
    stop.abort();
    await calls;
  }
  await untilHealed();
}

async function untilHealed(): Promise<number> {
  const startedAt = performance.now();
  const status = () => fetch(`${arena.weir.url}/readyz`).then((answer) => answer.status);
  await expect.poll(status, { timeout: HEALED_WITHIN_MS }).toBe(200);
  await expect.poll(() => arena.weir.client.streams.list(), { timeout: HEALED_WITHIN_MS }).toBeDefined();
  return performance.now() - startedAt;
}

for (const [what, signal, rounds] of [
  ["its database is killed (-9)", "SIGKILL", 4],
  ["its database shuts down fast, as in a fail-over", "SIGINT", 3],
] as const) {
  test(`${what} ${rounds} times with statements in flight: the server survives and the stream continues`, async (context) => {
    const { weir } = arena;
    const { pid } = weir;
    const healed: number[] = [];
    const experience = await experienceOf(weir, async (broadcast) => {
      await whileApiIsBusy(async () => {
        for (let round = 0; round < rounds; round++) {
          process.kill(postmasterPid(weir), signal);
          await wait(500);
          healed.push(await untilHealed());
        }
      });
      await expectWholeRecording(broadcast);
    });
    expect(weir.pid).toBe(pid);
    expect(() => process.kill(pid, 0)).not.toThrow();
    measured(context, `healed after ${Math.round(Math.max(...healed))} ms at most`, told(experience));
  });
}

test("single database connections are killed under load: the server survives", async (context) => {
  const { weir } = arena;
  let killed = 0;
  await whileApiIsBusy(async () => {
    for (let round = 0; round < 10; round++) {
      const [backend] = backendPids(weir);
      if (backend !== undefined) process.kill(backend, "SIGKILL");
      killed += Number(backend !== undefined);
      await untilHealed();
    }
  });
  expect(killed).toBeGreaterThan(0);
  measured(context, `${killed} connections killed`);
});

test("its database hangs for 30 s: admitted viewers continue, new viewers of public content too, and the API responds with 503", async (context) => {
  const { weir } = arena;
  await using open = await startBroadcast(weir);
  await using gated = await startGatedBroadcast(weir);
  const signer = await TokenSigner.create(weir);
  const jwt = await signer.sign(gated.stream.playbackId);
  const watched = [await childOf(open.hlsUrl), await childOf(`${gated.hlsUrl}?jwt=${jwt}`)];
  const statuses = async (urls: readonly string[]) => Promise.all(urls.map(async (url) => (await fetch(url)).status));
  expect(await statuses(watched)).toEqual([200, 200]);

  const pids = [postmasterPid(weir), ...backendPids(weir)];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  const stoppedAt = performance.now();
  const slowest = { viewer: 0, api: 0 };
  try {
    while (performance.now() - stoppedAt < OUTAGE_MS) {
      const askedAt = performance.now();
      expect(await statuses([...watched, open.hlsUrl])).toEqual([200, 200, 200]);
      slowest.viewer = Math.max(slowest.viewer, performance.now() - askedAt);
      await wait(1000);
    }
    const askedAt = performance.now();
    const refused = await fetch(`${weir.url}/api/stream`, { headers: { authorization: `Bearer ${weir.apiKey}` } });
    slowest.api = performance.now() - askedAt;
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([503, expect.any(Number)]);
  } finally {
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGCONT");
      } catch {
        // The server closed that connection, and its backend process ended.
      }
    }
  }
  await untilHealed();
  measured(
    context,
    `viewers answered within ${Math.round(slowest.viewer)} ms, the API within ${Math.round(slowest.api)} ms`,
  );
});
