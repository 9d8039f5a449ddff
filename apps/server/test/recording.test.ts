import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";
import { startBroadcast } from "./support/broadcast.ts";

const arena = shareArena();
const SECONDS = 7;
const JPEG = Buffer.of(0xff, 0xd8, 0xff);

test("a broadcast is recorded: HLS and MP4 play, are as long as the session, and have both tracks", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: SECONDS, stream: { record: true } });
  expect(await broadcast.publisher.ended).toBe(null);
  const session = await broadcast.recorded();
  expect(Math.abs(session.sourceSegmentsDuration - SECONDS)).toBeLessThan(0.2);

  const hls = await arena.browser.playHls(session.recordingUrl);
  const started = await hls.until("a duration", ({ duration }) => duration !== null && duration > 0);
  expect(Math.abs((started.duration ?? 0) - session.sourceSegmentsDuration)).toBeLessThan(0.2);
  const ended = await hls.untilEnd();
  expect(ended.frames + ended.droppedFrames).toBeGreaterThan(0.95 * 30 * SECONDS);
  expect(ended.audioBytes).toBeGreaterThan(0);
  expect(ended.errors).toEqual([]);
  await hls.close();

  const mp4 = await arena.browser.playFile(session.mp4Url);
  const opened = await mp4.untilShown(5);
  expect(Math.abs((opened.duration ?? 0) - session.sourceSegmentsDuration)).toBeLessThan(0.2);
  await mp4.seek(5);
  await mp4.until("pictures after a seek", ({ isSeeking, currentTime }) => !isSeeking && currentTime > 5.2);
  await mp4.close();

  const whole = await fetch(session.mp4Url).then((response) => response.arrayBuffer());
  const playback = await arena.weir.client.playback.get(session.id);
  expect(playback.meta.source[0]?.size).toBe(whole.byteLength);
  const pictures = playback.meta.source.filter(({ hrn }) => hrn.startsWith("Thumbnail"));
  expect(pictures.map(({ type }) => type)).toEqual(["image/jpeg", "text/vtt"]);
  const [still, storyboard] = await Promise.all(pictures.map(({ url }) => fetch(url)));
  expect(Buffer.from((await still?.arrayBuffer()) ?? new ArrayBuffer()).subarray(0, 3)).toEqual(JPEG);
  const tiles = (await storyboard?.text())?.match(/^storyboard_\d+\.jpg\S*#xywh=[\d,]+$/gm) ?? [];
  expect(tiles.length).toBeGreaterThanOrEqual(3);
  const last = await fetch(new URL(tiles.at(-1) ?? "", storyboard?.url));
  expect(Buffer.from(await last.arrayBuffer()).subarray(0, 3)).toEqual(JPEG);

  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(whole) });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  expect([video?.codec, audio?.codec]).toEqual(["avc", "aac"]);
  expect(Math.abs((await input.computeDuration()) - session.sourceSegmentsDuration)).toBeLessThan(0.2);

  const span = `${new URL(`s/-/${session.id}/source/index.m3u8`, session.recordingUrl)}`;
  const statuses = () =>
    Promise.all([session.recordingUrl, span, session.mp4Url].map(async (url) => (await fetch(url)).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  await arena.weir.client.sessions.deleteRecording(session.id);
  await expect.poll(statuses).toEqual([404, 404, 404]);
});

test("the spool is readable by the server's user only", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true } });
  const spool = join(arena.weir.dataFolder, "spool");
  const own = async () =>
    (await readdir(spool, { recursive: true })).filter((name) => name.includes(broadcast.stream.id));
  await expect.poll(own).toContainEqual(expect.stringMatching(/\.m4s$/));
  const names = await own();
  const modes = await Promise.all([spool, ...names.map((name) => join(spool, name))].map((path) => modeOf(path)));
  for (const mode of modes) expect(mode & 0o077).toBe(0);
  expect(await modeOf(arena.weir.dataFolder)).toBe(0o700);
  await broadcast.publisher.stop();
});

test("a recording whose picture size changed is one MP4 with both sizes, and seeks within one GOP", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true, profiles: [] } });
  const recorded = async () => (await broadcast.now()).sourceSegmentsDuration;
  await expect.poll(recorded, { timeout: 30_000 }).toBeGreaterThanOrEqual(4);
  await broadcast.publisher.kill();
  const first = await recorded();
  await broadcast.publish({ width: 1280, height: 720 });
  await expect.poll(recorded, { timeout: 40_000 }).toBeGreaterThanOrEqual(first + 8);
  await broadcast.publisher.stop();
  const { mp4Url, sourceSegmentsDuration } = await broadcast.recorded(60_000);

  await using whole = await AvFile.open(mp4Url);
  const pictures = await whole.decode();
  expect(Object.keys(pictures)).toEqual(["640", "1280"]);
  const seconds = { small: (pictures[640] ?? 0) / 30, both: ((pictures[640] ?? 0) + (pictures[1280] ?? 0)) / 30 };
  expect(Math.abs(seconds.both - sourceSegmentsDuration)).toBeLessThan(0.5);
  for (const wanted of [seconds.both - 1, seconds.small + 1, 3, 1]) {
    await using file = await AvFile.open(mp4Url);
    const found = await file.seek(wanted);
    expect(found).toBeGreaterThan(wanted - 2.2);
    expect(found).toBeLessThanOrEqual(wanted);
  }
  const page = await arena.browser.playFile(mp4Url);
  await page.untilShown(5);
  // So slow that the pictures of one size are not over before they are seen.
  await page.setSpeed(0.5);
  for (const [to, size] of [
    [seconds.small + 3, 1280],
    [1, 640],
  ] as const) {
    await page.seek(to);
    await page.until(`pictures of ${size} after a seek`, ({ isSeeking, currentTime, width }) => {
      return !isSeeking && currentTime > to + 0.2 && width === size;
    });
  }
  await page.close();
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

test("an audio-only recording plays to its end", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 5, video: false, stream: { record: true } });
  expect(await broadcast.publisher.ended).toBe(null);
  const player = await arena.browser.playHls((await broadcast.recorded()).recordingUrl);
  expect((await player.untilEnd()).audioBytes).toBeGreaterThan(0);
  await player.close();
});

test("a session of a stream that is not recorded has no recording", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 2 });
  expect(await broadcast.publisher.ended).toBe(null);
  await broadcast.untilState("idle");
  const [session] = await broadcast.sessions();
  expect([session?.isActive, session?.recordingStatus, session?.recordingUrl]).toEqual([false, undefined, undefined]);
});
