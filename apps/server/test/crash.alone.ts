import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { recordedSeconds } from "./support/recorded-seconds.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

/** From the last packet before the kill: server and publisher must be back within this time, even on a busy machine. */
const WINDOW_MS = 20_000;
const arena = openArena({ env: { WEIR_RECONNECT_WINDOW_MS: String(WINDOW_MS) } });

test("kill -9 while live: a returning publisher continues its session, the other session ends; both recordings play", async () => {
  const stream = { record: true, profiles: SMALL_LADDER };
  await using back = await startBroadcast(arena.weir, { stream });
  await using gone = await startBroadcast(arena.weir, { stream });
  const [{ status: before }] = await Promise.all([back.now(), gone.now()]);
  await Promise.all([back.untilSegments(3), gone.untilSegments(3)]);
  const written = await gone.now();

  await arena.weir.kill();
  const killedAt = Date.now();
  await gone.publisher.kill();
  await back.publisher.kill();
  await arena.weir.restart();

  await back.publish();
  const again = await back.untilState("live");
  expect(again.status.sessionId).toBe(before.sessionId);
  await back.untilSegments(6);
  await back.publisher.stop();
  const whole = await back.recorded();
  expect(whole.id).toBe(before.sessionId);
  // The timeline jumps at the restart; the file does not.
  expect(await recordedSeconds(whole.mp4Url)).toBeCloseTo(whole.sourceSegmentsDuration, 0);
  const resumed = await arena.browser.playHls(whole.recordingUrl);
  await resumed.untilEnd();
  await resumed.close();

  await gone.untilState("idle", WINDOW_MS + 5000);
  expect((await gone.now()).isActive).toBe(false);
  const cut = await gone.recorded();
  // All but the segment that was open when the server died; at least what the database knew before.
  expect(cut.sourceSegmentsDuration).toBeGreaterThanOrEqual(written.sourceSegmentsDuration);
  expect(cut.lastSeen).toBeLessThanOrEqual(killedAt);
  expect(await recordedSeconds(cut.mp4Url)).toBeCloseTo(cut.sourceSegmentsDuration, 0);
  const player = await arena.browser.playHls(cut.recordingUrl);
  await player.untilEnd();
  await player.close();
});

test("an object store that rejects puts before and after a kill -9: the recording waits, and then has every segment once", async () => {
  const objects = join(arena.weir.dataFolder, "objects", "v1");
  await rename(objects, `${objects}.away`);
  // A file in place of the folder makes every put fail, even after a restart.
  await writeFile(objects, "");
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true } });
  await broadcast.untilSegments(3);
  await arena.weir.kill();
  await broadcast.publisher.kill();
  await arena.weir.restart();
  await broadcast.publish();
  await broadcast.untilSegments(6);
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  expect((await broadcast.sessions())[0]?.recordingStatus).toBe("waiting");

  await rm(objects);
  await rename(`${objects}.away`, objects);
  const whole = await broadcast.recorded(60_000);
  expect(whole.recordingError).toBeUndefined();
  const { sourceSegments } = await broadcast.now();
  expect(await recordedSeconds(whole.mp4Url)).toBeCloseTo(whole.sourceSegmentsDuration, 0);
  expect(whole.sourceSegments).toBe(sourceSegments);
});
