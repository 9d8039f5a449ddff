import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import type { TestPlayer } from "./support/browser.ts";

const arena = shareArena();
/** A second of the publisher's sound has 16 kB, of silence 300 bytes. */
const SOUND_BYTES = 5000;

test("a player plays on when a source loses its sound, and hears it when it comes back or comes late", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true } });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(30);

  await comeBack(broadcast, { audio: false });
  await player.untilMoving(150);
  const silent = await player.state();
  await comeBack(broadcast, { audio: true });
  await untilSound(player, silent.audioBytes);
  expect((await player.state()).errors.filter((error) => error.includes("fragGap"))).toEqual([]);
  await player.close();
  await broadcast.publisher.stop();
  expect(await listOf((await broadcast.recorded()).recordingUrl)).toContain("mp4a.40.2");

  // The stream's next session has no sound at first, and its list has a track for it.
  await broadcast.publish({ audio: false });
  await broadcast.untilState("live");
  const early = await arena.browser.playHls(broadcast.hlsUrl);
  const before = await early.untilMoving(30);
  await comeBack(broadcast, { audio: true });
  await untilSound(early, before.audioBytes);
  await early.close();
  await broadcast.publisher.stop();
});

test("a session in which no sound came has no audio in its recording, though the one before had", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true } });
  await broadcast.untilSegments(1);
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  await broadcast.publish({ audio: false });
  await broadcast.untilState("live");
  expect(await listOf(broadcast.hlsUrl)).toContain("mp4a.40.2");
  await broadcast.untilSegments(3);
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  const isSecond = async () => (await broadcast.sessions()).length === 2;
  await expect.poll(isSecond).toBe(true);
  const recording = await listOf((await broadcast.recorded()).recordingUrl);
  expect(recording).toContain("avc1");
  expect(recording).not.toContain("AUDIO");
});

async function comeBack(broadcast: Broadcast, how: { readonly audio: boolean }): Promise<void> {
  await broadcast.publisher.kill();
  await broadcast.untilState("reconnecting");
  await broadcast.publish(how);
  await broadcast.untilState("live");
}

async function untilSound(player: TestPlayer, audioBytes: number): Promise<void> {
  await player.until("a second of sound", (state) => state.isPlaying && state.audioBytes > audioBytes + SOUND_BYTES);
}

const listOf = (url: string): Promise<string> => fetch(url).then((response) => response.text());
