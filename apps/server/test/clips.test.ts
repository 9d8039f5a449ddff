import type { Asset } from "@weir/contract";
import { Livepeer } from "livepeer";
import type { Locator } from "playwright-core";
import { expect, onTestFinished, test, vi } from "vitest";
import { shareArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { signedInPage } from "./support/dashboard-page.ts";
import { untilListed } from "./support/live-renditions.ts";

const arena = shareArena();
/** In seconds on a quiet machine (`npm run bench -- --only clips`); five other files begin beside this one. */
const READY_WITHIN_MS = 60_000;

const CLIP_MS = 2_500;

/** The start of a clip, by the broadcast's clock, that has just been shown and whose last segment is barely complete. */
async function lastMoment({ hlsUrl }: Broadcast): Promise<number> {
  const listed = await untilListed(hlsUrl, "source", 2);
  const startTime = (listed.at(-1)?.dateMs ?? Number.NaN) + 500;
  await vi.waitUntil(() => Date.now() > startTime + CLIP_MS, { timeout: 10_000 });
  return startTime;
}

test("a clip of a running broadcast with B-frames plays within seconds, in a browser and as a file", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    bFrames: 2,
    stream: { record: true, profiles: [] },
  });
  const { client } = arena.weir;
  const { playbackId } = broadcast.stream;
  const startTime = await lastMoment(broadcast);
  const { asset } = await client.clips.create({ playbackId, startTime, endTime: startTime + CLIP_MS });
  let ready: Asset = asset;
  const phase = async () => {
    ready = await client.assets.get(asset.id);
    return ready.status.phase;
  };
  await expect.poll(phase, { timeout: READY_WITHIN_MS }).toBe("ready");
  expect(ready.videoSpec?.duration).toBeCloseTo(2.5, 1);
  expect((await client.clips.list(playbackId)).map(({ id }) => id)).toEqual([asset.id]);

  await using file = await AvFile.open(ready.downloadUrl ?? "");
  const pictures = Object.values(await file.decode())[0] ?? 0;
  expect(pictures).toBeGreaterThanOrEqual(2.5 * 30 - 1);
  const hls = await arena.browser.playHls(ready.playbackUrl ?? "");
  const ended = await hls.untilEnd();
  expect(ended.errors).toEqual([]);
  expect(ended.frames + ended.droppedFrames).toBeGreaterThanOrEqual(2.5 * 30 - 2);
  await hls.close();

  const base = (ready.playbackUrl ?? "").replace("index.m3u8", "");
  const storyboard = await (await fetch(`${base}thumbnails/thumbnails.vtt`)).text();
  const tiles = storyboard.match(/\nstoryboard_0\.jpg#xywh=\d+,0,160,\d+\n/g)?.length ?? 0;
  const page = await arena.browser.context.newPage();
  const widthOf = (url: string) =>
    page.evaluate(`new Promise((known) => {
      const image = new Image();
      image.onload = () => known(image.naturalWidth);
      image.onerror = () => known(null);
      image.src = ${JSON.stringify(url)};
    })`);
  expect(await widthOf(`${arena.weir.url}/hls/${playbackId}/source/latest.jpg`)).toBe(640);
  expect(await widthOf(`${base}thumbnails/storyboard_0.jpg`)).toBe(160 * tiles);
  expect(await widthOf(`${base}animated.webp?end=2&fps=10`)).toBe(320);
  await page.close();
});

test("a clip of an unrecorded broadcast is made from its last seconds, with the public SDK", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    bFrames: 2,
    stream: { record: false, profiles: [] },
  });
  const { client } = arena.weir;
  const startTime = await lastMoment(broadcast);
  const { playbackId } = broadcast.stream;
  const sdk = new Livepeer({ apiKey: arena.weir.apiKey, serverURL: `${arena.weir.url}/api` });
  const { data } = await sdk.stream.createClip({ playbackId, startTime, endTime: startTime + CLIP_MS, name: "SDK" });
  expect(data?.task.id).toMatch(/./);
  const id = data?.asset.id ?? "";
  const phase = async () => (await sdk.asset.get(id)).asset?.status?.phase;
  await expect.poll(phase, { timeout: READY_WITHIN_MS }).toBe("ready");
  expect((await sdk.stream.getClips(broadcast.stream.id)).data?.map((clip) => clip.id)).toEqual([id]);
  const { downloadUrl = "", videoSpec } = await client.assets.get(id);
  expect(videoSpec?.duration).toBeCloseTo(2.5, 1);
  await using file = await AvFile.open(downloadUrl);
  expect(Object.values(await file.decode())[0]).toBeGreaterThanOrEqual(2.5 * 30 - 5);
});

/** A place on the strip, so many pixels behind the middle of a handle. */
async function onBar(bar: Locator, handle: Locator, pixels: number): Promise<{ x: number; y: number }> {
  const [place, width] = [await handle.getAttribute("aria-valuenow"), (await bar.boundingBox())?.width ?? 0];
  const durationMs = Number(await handle.getAttribute("aria-valuemax"));
  return { x: (Number(place) / durationMs) * width + pixels, y: ((await bar.boundingBox())?.height ?? 0) / 2 };
}

test("in the dashboard a clip is marked on the recording and appears in the list", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 5, stream: { record: true, profiles: [] } });
  expect(await broadcast.publisher.ended).toBe(null);
  const session = await broadcast.recorded();
  const page = await signedInPage(arena);
  onTestFinished(() => page.close());
  page.setDefaultTimeout(40_000);
  await page.goto(`${arena.weir.url}/sessions/${session.id}`);
  await page.getByRole("button", { name: "Share & embed" }).click();
  await page
    .getByRole("dialog")
    .getByText(/\/watch\/[a-z0-9]+$/)
    .waitFor();
  await page.keyboard.press("Escape");
  const maker = page.getByRole("region", { name: "Clips" });
  const currentTime = () => page.evaluate<number>("document.querySelector('weir-player')?.video?.currentTime ?? 0");
  const create = maker.getByRole("button", { name: "Create clip" });
  await expect.poll(currentTime).toBeGreaterThan(0.5);
  // It plays on while the buttons are looked for, to its end on a slow machine.
  await page.evaluate(
    "{ const { video } = document.querySelector('weir-player'); video.pause(); video.currentTime = 1; }",
  );
  await maker.getByRole("button", { name: "One frame forward" }).click();
  await maker.getByRole("button", { name: "Set start" }).press("i");
  for (let n = 0; n < 2; n++) await maker.getByRole("button", { name: "Set start" }).press("Shift+ArrowRight");
  await maker.getByRole("button", { name: "Set end" }).click();
  await maker.getByText("2.0 s").waitFor();

  // The mouse drags the end before the start, and the player shows that moment.
  const [start, end] = [maker.getByRole("slider", { name: "Start" }), maker.getByRole("slider", { name: "End" })];
  // By element, not by place on the page: what is above the strip may still grow.
  const bar = start.locator("..");
  const dragTarget = await onBar(bar, start, -20);
  await end.dragTo(bar, { targetPosition: dragTarget, steps: 3 });
  await maker.getByText("The end must be after the start.").waitFor();
  expect(await create.isDisabled()).toBe(true);
  const dragged = Number(await end.getAttribute("aria-valuenow"));
  expect(dragged).toBeLessThan(Number(await start.getAttribute("aria-valuenow")));
  await expect.poll(currentTime).toBeCloseTo(dragged / 1000, 1);
  // A press on the strip seeks, and sets nothing.
  await bar.click({ position: await onBar(bar, start, 40) });
  await expect.poll(currentTime).toBeGreaterThan(dragged / 1000);
  expect(Number(await end.getAttribute("aria-valuenow"))).toBe(dragged);

  const startMs = Number(await start.getAttribute("aria-valuenow"));
  while (Number(await end.getAttribute("aria-valuenow")) < startMs + 1000) await end.press("Shift+ArrowRight");
  const lengthMs = Number(await end.getAttribute("aria-valuenow")) - startMs;
  await maker.getByLabel("Name of the clip").fill("The best part");
  await create.click();
  const clip = maker.getByRole("listitem").filter({ hasText: "The best part" });
  await clip.getByText(`${(lengthMs / 1000).toFixed(1)} s`).waitFor();
  await clip.getByRole("link").click();
  await page.getByRole("heading", { name: "The best part" }).waitFor();
});
