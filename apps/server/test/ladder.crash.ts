import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { killTranscoder, newestTranscoder, SMALL_LADDER, transcodeEvents } from "./support/transcoding.ts";

const KILLS = 20;
const LONGEST_WAIT_MS = 15_000;
/** For server, children, broadcaster and browser, which share the machine. */
const STALL_MS = 1000;

const arena = openArena();

test("the transcoder is killed 20 times in a few minutes: the source never stalls, and each kill costs at most one segment", async () => {
  const seconds = (KILLS * LONGEST_WAIT_MS) / 1000 + 60;
  await using broadcast = await startBroadcast(arena.weir, { seconds, stream: { profiles: SMALL_LADDER } });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(60);
  await player.switchTo(640);
  const killed: number[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_WAIT_MS));
    killed.push(newestTranscoder(arena.weir));
    killTranscoder(arena.weir);
  }
  const { sourceSegments } = await broadcast.now();
  const events = () => transcodeEvents(arena.weir, broadcast.stream.id);
  await expect.poll(async () => (await events()).length, { timeout: 20_000 }).toBeGreaterThan(sourceSegments + 2);

  const { fatal, longestStallMs } = await player.untilMoving(30);
  expect(fatal).toBe(null);
  expect(longestStallMs).toBeLessThan(STALL_MS);
  const told = await events();
  const isLost = told.filter(({ success }) => !success);
  console.log(`${KILLS} kills: ${isLost.length} of ${told.length} segments lost, longest stall ${longestStallMs} ms`);
  expect(isLost.length).toBeLessThanOrEqual(KILLS);
  const failures = told.flatMap(({ attempts }) => attempts).filter(({ error }) => error !== null);
  for (const pid of killed) {
    const ofIt = failures.filter(({ orchestrator }) => orchestrator.transcodeUri.endsWith(`/${pid}`));
    expect(ofIt[0]?.error).toMatch(/SIGKILL/);
  }
  await player.close();
});
