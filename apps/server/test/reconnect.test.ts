import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const arena = shareArena();

test("a publisher that returns within the window continues the session, and the same player continues", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { record: true, profiles: SMALL_LADDER } });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(30);
  const playlistUrl = await videoPlaylistUrl(broadcast.hlsUrl);

  await broadcast.publisher.kill();
  const away = await broadcast.untilState("reconnecting");
  expect(away.isActive).toBe(true);
  expect(away.status.reconnectUntil).toBeGreaterThan(Date.now());

  const publisher = await broadcast.publish();
  await broadcast.untilState("live");
  await player.untilMoving(150);
  expect((await broadcast.sessions()).map(({ isActive }) => isActive)).toEqual([true]);
  const playlist = await fetch(playlistUrl).then((response) => response.text());
  expect(playlist).not.toContain("#EXT-X-DISCONTINUITY");
  await player.close();

  await publisher.stop();
  const recorded = await arena.browser.playHls((await broadcast.recorded()).recordingUrl);
  const { frames, droppedFrames, fatal } = await recorded.untilEnd();
  expect(fatal).toBe(null);
  expect(frames + droppedFrames).toBeGreaterThan(150);
  await recorded.close();
});

test("a clean stop ends the session immediately, and the playlist ends", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: SMALL_LADDER } });
  const playlistUrl = await videoPlaylistUrl(broadcast.hlsUrl);
  await broadcast.publisher.stop();
  await broadcast.untilState("idle");
  // A rung's playlist, whose last segment is still being transcoded when the session ends.
  const playlist = () => fetch(playlistUrl).then((response) => response.text());
  await expect.poll(playlist, { timeout: 30_000 }).toMatch(/#EXT-X-ENDLIST\n$/);
});

async function videoPlaylistUrl(hlsUrl: string): Promise<string> {
  const playlist = await fetch(hlsUrl).then((response) => response.text());
  return new URL(playlist.trim().split("\n").at(-1) ?? "", hlsUrl).href;
}
