import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import {
  listedRenditions,
  listedSegments,
  ROUNDING_SECONDS,
  renditionUrl,
  untilListed,
} from "./support/live-renditions.ts";
import {
  killTranscoder,
  newestTranscoder,
  SMALL_LADDER,
  transcodeEvents,
  transcoderPids,
} from "./support/transcoding.ts";
import { WeirProcess } from "./support/weir-process.ts";

const RUNGS = ["v0", "v1"];

const arena = openArena();
const stream = { profiles: SMALL_LADDER };
/** Half the usual frame rate and a small source, so that a busy machine keeps up. */
const options = { frameRate: 15, width: 480, height: 270, stream };

test("a killed transcoder costs at most one segment of the rungs and none of the source; an event reports it", async () => {
  await using broadcast = await startBroadcast(arena.weir, options);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(30);
  await player.switchTo(480);
  for (const name of RUNGS) await untilListed(broadcast.hlsUrl, name, 2);
  const before = (await broadcast.now()).sourceSegments;
  killTranscoder(arena.weir);
  await broadcast.untilSegments(before + 3);
  const state = await player.untilMoving(15);
  expect([state.fatal, state.longestStallMs < 2000]).toEqual([null, true]);
  for (const name of RUNGS) expect(await damaged(broadcast, name, before)).toBeLessThanOrEqual(1);
  const told = async () => (await transcodeEvents(arena.weir, broadcast.stream.id)).flatMap(({ attempts }) => attempts);
  await expect.poll(told).toContainEqual(expect.objectContaining({ error: expect.stringMatching(/SIGKILL/) }));
  expect((await broadcast.now()).sourceSegments).toBeGreaterThanOrEqual(before + 3);
  await player.close();
});

test("a transcoder that hangs is replaced within seconds, with all rungs and the reason in an event", async () => {
  await using broadcast = await startBroadcast(arena.weir, options);
  for (const name of RUNGS) await untilListed(broadcast.hlsUrl, name, 1);
  const hung = newestTranscoder(arena.weir);
  process.kill(hung, "SIGSTOP");
  // The stopped one may have finished these.
  const before = (await broadcast.now()).sourceSegments + 1;
  await expect.poll(() => transcoderPids(arena.weir), { timeout: 30_000 }).not.toContain(hung);
  for (const name of RUNGS) {
    const url = await renditionUrl(broadcast.hlsUrl, name);
    const made = async () => (await listedSegments(url)).filter(({ msn, isGap }) => msn > before && !isGap).length;
    await expect.poll(made, { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
  }
  const attempts = (await transcodeEvents(arena.weir, broadcast.stream.id)).flatMap(({ attempts }) => attempts);
  expect(attempts).toContainEqual(expect.objectContaining({ error: expect.stringMatching(/no progress for 4 s/) }));
});

test("a session with a ladder ends cleanly, and its recording plays", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    ...options,
    seconds: 5,
    stream: { ...stream, record: true },
  });
  const transcoder = newestTranscoder(arena.weir);
  expect(await broadcast.publisher.ended).toBe(null);
  const { recordingUrl, sourceSegments } = await broadcast.recorded();
  await expect.poll(async () => (await broadcast.sessions())[0]?.transcodedSegments).toBe(sourceSegments);
  await expect.poll(() => transcoderPids(arena.weir)).not.toContain(transcoder);
  const player = await arena.browser.playHls(recordingUrl);
  expect((await player.untilEnd()).errors).toEqual([]);
  await player.close();
});

test("a ladder beyond the machine's capacity plays as source only, with a reason", async () => {
  await using weir = await WeirProcess.start({ env: { WEIR_TRANSCODE_CORES: "0" } });
  await using broadcast = await startBroadcast(weir, { stream });
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source"]);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  expect((await player.untilMoving(60)).width).toBe(640);
  await expect.poll(async () => (await transcodeEvents(weir, broadcast.stream.id)).length).toBeGreaterThan(0);
  const [event] = await transcodeEvents(weir, broadcast.stream.id);
  expect(event).toMatchObject({ success: false, attempts: [{ error: expect.stringMatching(/cores/) }] });
  expect(transcoderPids(weir)).toEqual([]);
  await player.close();
});

/** Number of a rung's segments from `from` on that are gaps, or shorter than the source's. */
async function damaged(broadcast: Broadcast, name: string, from: number): Promise<number> {
  const rung = await listedSegments(await renditionUrl(broadcast.hlsUrl, name));
  // Requested after the rung, because the source is ahead.
  const source = await listedSegments(await renditionUrl(broadcast.hlsUrl, "source"));
  return rung.filter(({ msn, isGap, seconds }) => {
    if (msn < from) return false;
    const wanted = source.find((segment) => segment.msn === msn)?.seconds ?? 0;
    return isGap || Math.abs(seconds - wanted) > ROUNDING_SECONDS;
  }).length;
}
