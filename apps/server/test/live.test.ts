import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import type { PlayerState } from "./support/browser.ts";

const arena = shareArena();

test("a broadcast plays with video and audio, at most a few seconds behind", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: null } });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.until("picture and sound", ({ frames, audioBytes }) => frames > 0 && audioBytes > 0);
  const { duration } = await player.untilMoving(120);
  // Where a busy machine loads late, hls.js plays on as late as it began, until its viewer presses live.
  await player.seek((duration ?? 0) - 1);
  const behindMs = ({ playingDate }: PlayerState) => Date.now() - (playingDate ?? 0);
  const state = await player.until("at most 4 s behind", (now) => behindMs(now) < 4000);
  expect(state.width).toBe(640);
  expect(state.fatal).toBe(null);
  const { meta } = await broadcast.weir.client.playback.get(broadcast.stream.playbackId);
  const stillUrl = meta.source.find(({ type }) => type === "image/jpeg")?.url ?? "";
  const still = async () => {
    const answer = await fetch(stillUrl);
    const { byteLength } = await answer.arrayBuffer();
    return { status: answer.status, type: answer.headers.get("content-type"), isPicture: byteLength > 1000 };
  };
  // A server that is busy for 4 s asks the viewer to come back.
  await expect.poll(still).toEqual({ status: 200, type: "image/jpeg", isPicture: true });
  await player.close();
});

test("an audio-only stream plays", async () => {
  await using broadcast = await startBroadcast(arena.weir, { video: false });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  const before = await player.until("sound", ({ isPlaying, audioBytes }) => isPlaying && audioBytes > 0);
  await player.until("sound going on", ({ currentTime }) => currentTime > before.currentTime + 4);
  expect(await codecsOf(broadcast)).toBe("mp4a.40.2");
  await player.close();
});

test("a video-only stream plays", async () => {
  await using broadcast = await startBroadcast(arena.weir, { audio: false });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(120);
  expect((await player.state()).audioBytes).toBe(0);
  expect(await codecsOf(broadcast)).toMatch(/^avc1\.[0-9a-f]{6}$/i);
  await player.close();
});

test("a stream with B-frames plays with all pictures", async () => {
  await using broadcast = await startBroadcast(arena.weir, { bFrames: 2 });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  const before = await player.untilMoving(30);
  const after = await player.untilMoving(120);
  // 30 pictures per second of media: none is missing or has a wrong time.
  const seconds = after.currentTime - before.currentTime;
  expect((after.frames + after.droppedFrames - before.frames - before.droppedFrames) / seconds).toBeCloseTo(30, -1);
  // One may be this machine's own. A fault in the times of pictures stalls at every segment, and here are two.
  expect(after.stalls).toBeLessThanOrEqual(before.stalls + 1);
  await player.close();
});

test("HEVC is passed through, and listed in CODECS", async () => {
  await using broadcast = await startBroadcast(arena.weir, { codec: "hevc" });
  await expect.poll(() => codecsOf(broadcast), { timeout: 30_000 }).toMatch(/^hvc1\.1\.6\.L\d+\S*,mp4a\.40\.2$/);
});

/** The CODECS of the only variant; empty while there is none. */
async function codecsOf({ hlsUrl }: Broadcast): Promise<string> {
  const playlist = await fetch(hlsUrl).then((response) => response.text());
  return /CODECS="([^"]*)"/.exec(playlist)?.[1] ?? "";
}
