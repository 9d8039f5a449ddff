import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { type PublicPlayerProps, PublicPlayerSite } from "./support/public-player.ts";
import { startPublisher } from "./support/publisher.ts";

const arena = shareArena();

/** Resolves when the public player, unmodified, says that. */
async function untilPlayerSays(text: string, playbackId: string, credentials: Omit<PublicPlayerProps, "info"> = {}) {
  await using site = await PublicPlayerSite.start(arena.browser);
  const info = await arena.weir.client.playback.get(playbackId);
  const page = await site.open({ info, ...credentials });
  onTestFinished(() => page.close());
  await expect.poll(() => page.locator("#root").innerText(), { timeout: 20_000 }).toContain(text);
  return page;
}

test("the public player plays public content", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: null } });
  await untilPlayerSays("playing", broadcast.stream.playbackId);
});

test("the public player plays gated content with the token that its application gives it", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const jwt = await (await TokenSigner.create(arena.weir)).sign(playbackId);
  await untilPlayerSays("playing", playbackId, { jwt });
});

test("the public player says that it may not play, with a wrong token and without one", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const jwt = await (await TokenSigner.create(arena.weir)).sign("another00another");
  await untilPlayerSays("error: access-control", playbackId, { jwt });
  await untilPlayerSays("error: access-control", playbackId);
});

test("the public player says that a stream is offline, and plays as soon as it is not", async () => {
  const stream = await arena.weir.client.streams.create({ name: "later" });
  const page = await untilPlayerSays("error: offline", stream.playbackId);
  const publisher = await startPublisher({ url: arena.weir.publishUrl(stream.streamKey ?? "") });
  onTestFinished(() => publisher.kill());
  await expect.poll(() => page.locator("#root").innerText(), { timeout: 30_000 }).toContain("playing");
});
