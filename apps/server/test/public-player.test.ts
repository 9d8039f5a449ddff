import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { type PublicPlayerProps, PublicPlayerSite } from "./support/public-player.ts";
import { startPublisher } from "./support/publisher.ts";

const arena = shareArena();
const VENDOR = { cdn: "https://livepeercdn.studio", hosts: /^https:\/\/[^/]*(?:livepeer|livepeercdn)\.studio\// };

/** Resolves when the unmodified public player shows this text. */
async function untilPlayerSays(text: string, playbackId: string, credentials: Omit<PublicPlayerProps, "info"> = {}) {
  await using site = await PublicPlayerSite.start(arena.browser);
  const info = await arena.weir.client.playback.get(playbackId);
  const page = await site.open({ info, ...credentials });
  onTestFinished(() => page.close());
  await expect.poll(() => page.locator("#root").innerText(), { timeout: 40_000 }).toContain(text);
  return page;
}

test("the public player plays public content", async () => {
  await using broadcast = await startBroadcast(arena.weir, { stream: { profiles: null } });
  await untilPlayerSays("playing", broadcast.stream.playbackId);
});

test("the public player plays gated content with a token from its application", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const jwt = await (await TokenSigner.create(arena.weir)).sign(playbackId);
  await untilPlayerSays("playing", playbackId, { jwt });
});

test("the public player reports denied access, with a wrong token and without one", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const jwt = await (await TokenSigner.create(arena.weir)).sign("another00another");
  await untilPlayerSays("error: access-control", playbackId, { jwt });
  await untilPlayerSays("error: access-control", playbackId);
});

test("the public player reports an offline stream, and plays once it is live", async () => {
  const stream = await arena.weir.client.streams.create({ name: "later" });
  const page = await untilPlayerSays("error: offline", stream.playbackId);
  const publisher = await startPublisher({ url: arena.weir.publishUrl(stream.streamKey ?? "") });
  onTestFinished(() => publisher.kill());
  await expect.poll(() => page.locator("#root").innerText(), { timeout: 30_000 }).toContain("playing");
});

test("the public player's reports arrive: those of its application, and its own if its hosts resolve to Weir", async () => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir);
  const { playbackId } = broadcast.stream;
  await using site = await PublicPlayerSite.start(arena.browser);
  // By itself it reports to a host derived from the playback URL, and only knows its vendor's hosts.
  const info = JSON.parse(JSON.stringify(await weir.client.playback.get(playbackId)).replaceAll(weir.url, VENDOR.cdn));
  info.meta.source = info.meta.source.filter(({ hrn }: { hrn: string }) => hrn.startsWith("HLS"));
  const own: { session_id: string; events: { type: string }[] }[] = [];
  const leadHere = (page: Page) =>
    page.route(VENDOR.hosts, async (route) => {
      const { pathname, search } = new URL(route.request().url());
      if (route.request().method() === "POST") own.push(route.request().postDataJSON());
      await route.fulfill({ response: await route.fetch({ url: `${weir.url}${pathname}${search}` }) });
    });
  const from = { playback_id: playbackId, session_id: "of-the-application" };
  const page = await site.open({ info, reportsTo: { url: `${weir.url}/analytics/log`, from } }, leadHere);
  onTestFinished(async () => {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.close();
  });
  await expect.poll(() => page.locator("#root").innerText(), { timeout: 40_000 }).toContain("playing");

  const quality = async () => (await weir.client.views.query({ playbackId, breakdownBy: ["browser"] }))[0];
  await expect.poll(() => own.flatMap(({ events }) => events.map(({ type }) => type))).toContain("first-frame");
  // Both reporters are counted, and each is an exit until it has reported its first frame.
  const started = { browser: "Chrome", errorRate: 0, exitsBeforeStart: 0 };
  await expect.poll(quality, { timeout: 30_000 }).toMatchObject(started);
  expect((await quality())?.ttffMs).toBeGreaterThan(0);
  const [told] = own;
  expect(told).toMatchObject({ playback_id: playbackId, live: true, session_id: expect.stringMatching(/./) });
});
