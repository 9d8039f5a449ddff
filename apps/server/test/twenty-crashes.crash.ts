import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { recordedSeconds } from "./support/recorded-seconds.ts";

const CRASHES = 20;
/** From the last packet known to the database: server and publisher must be back within this time, even on a busy machine. */
const WINDOW_MS = 20_000;
/** Longer than a segment of these publishers (keyframes every 2 s) plus what was unreported when the server died. */
const OPEN_SEGMENT_SECONDS = 2.5;
const LATEST_CRASH_MS = 8000;

const arena = openArena({ env: { WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) } });

test.each(Array.from({ length: CRASHES }, (_, i) => i + 1))("kill -9 at a random moment, number %i", async (crash) => {
  const startedAt = Date.now();
  const broadcasts = await Promise.all(
    [1, 2, 3].map(() => startBroadcast(arena.weir, { stream: { record: true, profiles: null } })),
  );
  const sentFrom = Date.now();
  const wait = Math.random() * LATEST_CRASH_MS;
  console.log(`crash ${crash}: after ${Math.round(wait)} ms`);
  await new Promise((resolve) => setTimeout(resolve, wait));
  await arena.weir.kill();
  const killedAt = Date.now();
  await Promise.all(broadcasts.map(({ publisher }) => publisher.kill()));
  await arena.weir.restart();

  // One returns immediately, the others never.
  const [back, ...gone] = broadcasts as [Broadcast, ...Broadcast[]];
  const session = (await back.now()).status.sessionId;
  await back.publish();
  await back.untilState("live");
  await Promise.all(gone.map((broadcast) => broadcast.untilState("idle", WINDOW_MS + 5000)));
  expect((await back.now()).status.sessionId).toBe(session);
  await back.untilSegments(2);
  await back.publisher.stop();
  await back.untilState("idle");

  for (const broadcast of broadcasts) {
    const sent = (killedAt - sentFrom) / 1000;
    const newest = (await broadcast.sessions())[0];
    // A session killed within its first segment has no recording.
    if (!newest && sent < OPEN_SEGMENT_SECONDS) continue;
    const recorded = await broadcast.recorded();
    const seconds = await recordedSeconds(recorded.mp4Url);
    expect(seconds).toBeCloseTo(recorded.sourceSegmentsDuration, 0);
    expect(seconds).toBeGreaterThan(sent - OPEN_SEGMENT_SECONDS);
    expect(recorded.createdAt).toBeGreaterThanOrEqual(startedAt);
    await broadcast[Symbol.asyncDispose]();
  }
});
