import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import {
  type ListedSegment,
  listedRenditions,
  listedSegments,
  type ReadSegment,
  readSegment,
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
/** Sources count in milliseconds: the last frame of a segment may be told one too long. */
const ROUNDING_SECONDS = 0.002;

const arena = openArena();
const stream = { profiles: SMALL_LADDER };

test.each([0, 2])("rungs have the source's boundaries, each an IDR picture, with %i B-frames", async (bFrames) => {
  await using broadcast = await startBroadcast(arena.weir, { bFrames, stream });
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  await untilSegments(broadcast, 4);
  const source = await wholeSegments(broadcast, "source");
  for (const name of RUNGS) {
    const rung = await wholeSegments(broadcast, name);
    expect(rung.length).toBeGreaterThanOrEqual(3);
    for (const { listed, read } of rung) {
      const of = source.find((segment) => segment.listed.msn === listed.msn) ?? expect.fail(`no source ${listed.msn}`);
      expect(read.firstTicks).toBe(of.read.firstTicks);
      expect(read.frames).toBe(of.read.frames);
      expect(read.beginsWithIdr).toBe(true);
      expect(listed.dateMs).toBe(of.listed.dateMs);
      expect(Math.abs(listed.seconds - of.listed.seconds)).toBeLessThan(ROUNDING_SECONDS);
    }
  }
});

test("a player is led down and up again without a break", async () => {
  await using broadcast = await startBroadcast(arena.weir, { bFrames: 2, stream });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(90);
  const joined = await player.state();
  for (const width of [320, 640, 426, 640]) {
    await player.switchTo(width);
    await player.untilMoving(30);
  }
  const state = await player.state();
  expect(state.fatal).toBe(null);
  expect(state.audioBytes).toBeGreaterThan(joined.audioBytes);
  expect(state.longestStallMs).toBeLessThan(1000);
  await player.close();
});

test("a transcoder that is killed costs one segment at most, and the source nothing; an event tells it", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(60);
  await player.switchTo(640);
  const before = await untilSegments(broadcast, 3);
  killTranscoder(arena.weir);
  await untilSegments(broadcast, before + 3);
  const state = await player.untilMoving(30);
  expect([state.fatal, state.longestStallMs < 1000]).toEqual([null, true]);
  for (const name of RUNGS) expect(await damaged(broadcast, name)).toBeLessThanOrEqual(1);
  const told = async () => (await transcodeEvents(arena.weir, broadcast.stream.id)).flatMap(({ attempts }) => attempts);
  await expect.poll(told).toContainEqual(expect.objectContaining({ error: expect.stringMatching(/SIGKILL/) }));
  expect((await broadcast.now()).sourceSegments).toBeGreaterThanOrEqual(before + 3);
  await player.close();
});

test("a transcoder that hangs is replaced within seconds, with all rungs and the reason in an event", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream });
  await untilSegments(broadcast, 2);
  const hung = newestTranscoder(arena.weir);
  process.kill(hung, "SIGSTOP");
  await expect.poll(() => transcoderPids(arena.weir), { timeout: 10_000 }).not.toContain(hung);
  await untilSegments(broadcast, (await broadcast.now()).sourceSegments + 3);
  for (const name of RUNGS) {
    const newest = (await listedSegments(await playlistOf(broadcast, name))).slice(-2);
    expect(newest.map(({ isGap }) => isGap)).toEqual([false, false]);
  }
  const attempts = (await transcodeEvents(arena.weir, broadcast.stream.id)).flatMap(({ attempts }) => attempts);
  expect(attempts).toContainEqual(expect.objectContaining({ error: expect.stringMatching(/no sign of life for 4 s/) }));
});

test.each(["hevc", "av1"] as const)("a source of %s gets rungs of H.264, which play", async (codec) => {
  await using broadcast = await startBroadcast(arena.weir, { codec, width: 480, height: 270, stream });
  await untilSegments(broadcast, 2);
  expect((await wholeSegments(broadcast, "v0")).every(({ read }) => read.beginsWithIdr)).toBe(true);
  const player = await arena.browser.playHls(await playlistOf(broadcast, "v1"));
  expect((await player.untilMoving(30)).width).toBe(320);
  await player.close();
});

test("a source that changes its size keeps its rungs, and who watches one goes on", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(30);
  await player.switchTo(320);
  await broadcast.publish({ width: 854, height: 480, frameRate: 25 });
  await player.untilMoving(150);
  const state = await player.switchTo(854);
  expect(state.fatal).toBe(null);
  expect((await listedRenditions(broadcast.hlsUrl)).map(({ name }) => name)).toEqual(["audio", "source", ...RUNGS]);
  await player.close();
});

test("a session with a ladder ends cleanly, and its recording plays", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 5, stream: { ...stream, record: true } });
  const transcoder = newestTranscoder(arena.weir);
  expect(await broadcast.publisher.ended).toBe(null);
  const { recordingUrl, sourceSegments } = await broadcast.recorded();
  await expect.poll(async () => (await broadcast.sessions())[0]?.transcodedSegments).toBe(sourceSegments);
  await expect.poll(() => transcoderPids(arena.weir)).not.toContain(transcoder);
  const player = await arena.browser.playHls(recordingUrl);
  expect((await player.untilEnd()).errors).toEqual([]);
  await player.close();
});

test("a ladder that the machine has no room for plays as source only, and says why", async () => {
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

/** Resolves with how many segments the source has, when there are so many. */
async function untilSegments(broadcast: Broadcast, count: number): Promise<number> {
  const segments = async () => (await broadcast.now()).sourceSegments;
  await expect.poll(segments, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return segments();
}

async function playlistOf({ hlsUrl }: Broadcast, name: string): Promise<string> {
  const rendition = (await listedRenditions(hlsUrl)).find((listed) => listed.name === name);
  return rendition?.url ?? expect.fail(`there is no rendition ${name}`);
}

async function wholeSegments(
  broadcast: Broadcast,
  name: string,
): Promise<{ readonly listed: ListedSegment; readonly read: ReadSegment }[]> {
  const segments = await listedSegments(await playlistOf(broadcast, name));
  return Promise.all(segments.map(async (listed) => ({ listed, read: await readSegment(listed) })));
}

/** How many of a rung's listed segments are gaps, or hold less than the source's. */
async function damaged(broadcast: Broadcast, name: string): Promise<number> {
  const source = await listedSegments(await playlistOf(broadcast, "source"));
  const rung = await listedSegments(await playlistOf(broadcast, name));
  return rung.filter(({ msn, isGap, seconds }) => {
    const wanted = source.find((segment) => segment.msn === msn)?.seconds ?? 0;
    return isGap || Math.abs(seconds - wanted) > ROUNDING_SECONDS;
  }).length;
}
