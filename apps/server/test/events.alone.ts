import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { expectWholeLog, Follower } from "./support/followers.ts";

const arena = openArena({ env: { WEIR_RECONNECT_WINDOW_MS: "3000" } });

test("a client that follows a stream's events across restarts gets each event once, in order", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { stream: { profiles: [] } });
  await using early = new Follower(weir, broadcast.stream);
  await expect.poll(() => early.ids.length).toBeGreaterThan(1);

  await weir.stop();
  await broadcast.publisher.ended;
  await weir.restart();
  await using late = new Follower(weir, broadcast.stream);
  await broadcast.publish();
  await broadcast.untilState("live");
  // Clients retry with growing delays, so wait until they are connected again.
  await expect.poll(() => early.connections, { timeout: 40_000 }).toBeGreaterThanOrEqual(2);
  await expect.poll(() => late.connections, { timeout: 40_000 }).toBeGreaterThanOrEqual(1);
  await weir.kill();
  await broadcast.publisher.kill();
  await weir.restart();
  await broadcast.untilState("idle");

  const log = await expectWholeLog(weir, broadcast.stream, [early, late]);
  const states = log.flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));
  expect(states).toEqual([true, false, true, false]);
  expect(early.connections).toBeGreaterThanOrEqual(3);
});

test("the end of a broadcast is reported within 250 ms", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { stream: { profiles: [] } });
  const abort = new AbortController();
  const told = (async () => {
    const { id, createdAt } = broadcast.stream;
    for await (const event of weir.client.streams.events(id, { from: createdAt - 1, signal: abort.signal }))
      if (event.type === "stream_state" && !event.state.active) return Date.now() - event.timestamp;
    return Number.NaN;
  })();
  await broadcast.publisher.stop();
  expect(await told).toBeLessThan(250);
});
