import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { expectWholeLog, Follower } from "./support/followers.ts";

const KILLS = 20;
const LATEST_KILL_MS = 4000;
const FOLLOWERS = 10;
const LADDER = [{ name: "144p0", width: 256, height: 144, bitrate: 60_000, fps: 5 }];

const arena = openArena({ env: { WEIR_RECONNECT_WINDOW_MS: "1000" } });

test(`kill -9 of the server at ${KILLS} random moments: followers of the events get the complete log, each event once and in order`, async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { stream: { profiles: LADDER } });
  const followers: Follower[] = [];
  try {
    for (let kill = 1; kill <= KILLS; kill++) {
      // They start at different moments, all from the first event.
      if (followers.length < FOLLOWERS) followers.push(new Follower(weir, broadcast.stream));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * LATEST_KILL_MS));
      await weir.kill();
      await broadcast.publisher.kill();
      await weir.restart();
      if (kill % 4 === 0) await broadcast.untilState("idle");
      await broadcast.publish();
    }
    await broadcast.untilState("live");
    await broadcast.publisher.stop();
    await broadcast.untilState("idle");
    const log = await expectWholeLog(weir, broadcast.stream, followers);
    const states = log.flatMap((event) => (event.type === "stream_state" ? [event.state.active] : []));
    expect(states).toEqual(states.map((_, index) => index % 2 === 0));
    const connections = followers.reduce((sum, follower) => sum + follower.connections, 0);
    console.log(`${KILLS} kills: ${log.length} events, ${followers.length} followers, ${connections} connections`);
    expect(log.length).toBeGreaterThan(KILLS);
  } finally {
    for (const follower of followers) await follower[Symbol.asyncDispose]();
  }
});
