import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { startPublisher } from "./support/publisher.ts";
import { SMALL_LADDER } from "./support/transcoding.ts";

const arena = shareArena();

test("a second publisher with the key takes over: the first is disconnected, the session and the player continue", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: SMALL_LADDER } });
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving(30);
  const first = broadcast.publisher;
  await broadcast.publish();
  expect(await first.ended).not.toBe(null);
  await player.untilMoving(120);
  expect(await broadcast.sessions()).toHaveLength(1);
  expect((await broadcast.now()).isActive).toBe(true);
  await player.close();
});

test("terminate disconnects the publisher and ends the session; it may start a new one immediately", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  await arena.weir.client.streams.terminate(broadcast.stream.id);
  expect((await broadcast.now()).isActive).toBe(false);
  expect(await broadcast.publisher.ended).not.toBe(null);
  await broadcast.publish();
  await broadcast.untilState("live");
  // A session is listed once it has a segment.
  const areActive = async () => (await broadcast.sessions()).map(({ isActive }) => isActive);
  await expect.poll(areActive).toEqual([true, false]);
});

test("a wrong key is refused, and is not in the log", async () => {
  const wrongKey = "aaaa-bbbb-cccc-dddd";
  await expect(startPublisher({ url: arena.weir.publishUrl(wrongKey) })).rejects.toThrow();
  expect(arena.weir.log).not.toContain(wrongKey);
});

test("deleting a live stream disconnects the publisher, refuses viewers and invalidates the key", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  await arena.weir.client.streams.delete(broadcast.stream.id);
  expect(await broadcast.publisher.ended).not.toBe(null);
  await expect.poll(async () => (await fetch(broadcast.hlsUrl)).status).toBe(401);
  await expect(broadcast.now()).rejects.toThrow(expect.objectContaining({ status: 404 }));
  await expect(broadcast.publish()).rejects.toThrow();
});

test("a suspended stream disconnects its publisher and accepts none until it is resumed", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  await arena.weir.client.streams.patch(broadcast.stream.id, { suspended: true });
  expect(await broadcast.publisher.ended).not.toBe(null);
  await expect(broadcast.publish()).rejects.toThrow();
  await arena.weir.client.streams.patch(broadcast.stream.id, { suspended: false });
  await broadcast.publish();
  await broadcast.untilState("live");
});

test("the record setting cannot change while a stream is live", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  const change = arena.weir.client.streams.patch(broadcast.stream.id, { record: true });
  await expect(change).rejects.toMatchObject({
    status: 400,
    errors: ["cannot change 'record' field while stream is active"],
  });
  expect((await broadcast.now()).record).toBe(false);
});

test("neither log nor lists of a live server contain a stream key", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  expect(arena.weir.log).not.toContain(broadcast.stream.streamKey);
  expect(arena.weir.log).not.toContain(arena.weir.apiKey);
});
