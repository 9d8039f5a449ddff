import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { Broadcast, startBroadcast } from "./support/broadcast.ts";
import { violationsOf } from "./support/dashboard-page.ts";
import { publishNumbered } from "./support/numbered-recording-rig.ts";

const arena = shareArena();
const PICTURES_PER_SECOND = 30;
const SOURCE = { seconds: 20, jitterMs: 0, burstMs: 40 };

test("a viewer goes back to what has left the memory, sees the right picture, returns to live, and finds it all after the end", async () => {
  const { weir, browser } = arena;
  const name = "viewers go back";
  const stream = await weir.client.streams.create({ name, record: true, dvr: "session", profiles: [] });
  const broadcast = new Broadcast(weir, weir, stream, {});
  const published = publishNumbered(weir, stream, SOURCE);
  await broadcast.untilSegments(1);
  const url = `${broadcast.hlsUrl}?dvr=1`;
  const player = await browser.playHls(url);
  await player.untilMoving();
  const [session] = await broadcast.sessions();
  const live = new URL(`s/-/${session?.id}/source/index.m3u8`, url);
  const isGone = async () => !(await (await fetch(live)).text()).includes("\n1.m4s\n");
  await expect.poll(isGone, { timeout: 25_000, interval: 200 }).toBe(true);
  const edge = (await player.state()).currentTime;
  const shown = await player.numberAt(1.5);
  expect(Math.abs(shown - 1.5 * PICTURES_PER_SECOND)).toBeLessThan(PICTURES_PER_SECOND / 3);
  await player.untilMoving(5);
  await player.seek(edge);
  const back = await player.until("live again", ({ isSeeking, currentTime }) => !isSeeking && currentTime > edge);
  expect(back.fatal).toBeNull();

  await published;
  const ended = await player.until("the end", ({ hasEnded }) => hasEnded);
  expect(Math.abs((ended.duration ?? 0) - SOURCE.seconds)).toBeLessThan(0.5);
  expect(ended.errors).toEqual([]);
  await player.close();
});

test("on the watch page a viewer goes back by key to what was before, and is live again with a press", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    stream: { record: true, dvr: "session", profiles: [] },
  });
  const page = await arena.browser.context.newPage();
  onTestFinished(() => page.close());
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`${arena.weir.url}/watch/${broadcast.stream.playbackId}`);
  const bar = page.getByRole("slider", { name: "Go back" });
  const isBeyond = async (seconds: number) => Number(await bar.getAttribute("max")) > seconds;
  await expect.poll(() => isBeyond(6), { timeout: 30_000 }).toBe(true);
  await bar.press("Home");
  const behind = page.locator(".w-player-behind");
  await behind.waitFor();
  await expect.poll(() => asked.some((url) => url.endsWith("/d1.m4s"))).toBe(true);
  const video = () =>
    page.evaluate<{ at: number; isPlaying: boolean }>(
      "(({ currentTime, paused, seeking, readyState }) => ({ at: currentTime, isPlaying: !paused && !seeking && readyState > 2 }))(document.querySelector('weir-player').video)",
    );
  await expect.poll(video, { timeout: 20_000 }).toMatchObject({ isPlaying: true });
  expect((await video()).at).toBeLessThan(5);

  await page.getByRole("button", { name: "live" }).click();
  await behind.waitFor({ state: "hidden" });
  await expect.poll(() => asked.findLast((url) => url.includes("/index.m3u8"))).not.toContain("dvr=1");
  await expect.poll(video, { timeout: 20_000 }).toMatchObject({ isPlaying: true });
  await expect.poll(() => bar.getAttribute("aria-valuetext")).toBe("Live");
  expect(await violationsOf(page)).toEqual([]);
});
