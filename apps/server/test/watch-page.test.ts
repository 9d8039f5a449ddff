import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Frame } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { startPublisher } from "./support/publisher.ts";

const arena = shareArena();

async function openPage() {
  const page = await arena.browser.context.newPage();
  onTestFinished(() => page.close());
  return page;
}

test("a watch page waits for the broadcast, plays it, shows its end, and reports playback metrics", async () => {
  const stream = await arena.weir.client.streams.create({ name: "On stage", profiles: [] });
  const page = await openPage();
  await page.route("**/data/views/query/total/*", (route) => route.fulfill({ json: { viewCount: 1234 } }));
  await page.goto(`${arena.weir.url}/watch/${stream.playbackId}`);
  await page.getByText("This stream is offline").waitFor();
  await page.getByText("1,234 views").waitFor();
  expect(await page.title()).toBe("On stage");

  const publisher = await startPublisher({ url: arena.weir.publishUrl(stream.streamKey ?? "") });
  onTestFinished(() => publisher.kill());
  await untilMoving(page.mainFrame());
  await page.getByRole("button", { name: "Unmute", exact: true }).waitFor();
  await page.getByText("Started just now").waitFor();

  await arena.weir.client.streams.terminate(stream.id);
  publisher.kill();
  await page.getByText("The broadcast has ended").waitFor({ timeout: 40_000 });
  // Behind the words, the last picture.
  await page.locator("canvas").waitFor();
  await page.getByText("Last live").waitFor();

  const { playbackId } = stream;
  const reported = async () => (await arena.weir.client.views.query({ playbackId, breakdownBy: ["browser"] }))[0];
  await expect
    .poll(reported, { timeout: 30_000 })
    .toMatchObject({ browser: "Chrome", ttffMs: expect.any(Number), exitsBeforeStart: 0 });
});

test("a watch page that plays a stream without sound loads it again when its first sound comes", async () => {
  await using broadcast = await startBroadcast(arena.weir, { audio: false });
  const page = await openPage();
  await page.goto(`${arena.weir.url}/watch/${broadcast.stream.playbackId}`);
  await untilMoving(page.mainFrame());
  await broadcast.publisher.kill();
  await broadcast.untilState("reconnecting");
  await broadcast.publish({ audio: true });
  const soundBytes = () => page.evaluate("document.querySelector('weir-player').video.webkitAudioDecodedByteCount");
  await expect.poll(soundBytes, { timeout: 30_000 }).toBeGreaterThan(5000);
});

test("the watch page of a gated stream asks for no views and tells none", async () => {
  const policy = { type: "jwt" } as const;
  const stream = await arena.weir.client.streams.create({ name: "Gated", profiles: [], playbackPolicy: policy });
  const page = await openPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${arena.weir.url}/watch/${stream.playbackId}`);
  await page.getByText("This stream is offline").waitFor();
  expect(asked).toContain(`/api/playback/${stream.playbackId}`);
  expect(asked.filter((path) => path.includes("views"))).toEqual([]);
});

test("an embedded player plays a gated stream with a token from its parent page", async () => {
  await using broadcast = await startGatedBroadcast(arena.weir);
  const { playbackId } = broadcast.stream;
  const jwt = await (await TokenSigner.create(arena.weir)).sign(playbackId);
  const page = await openPage();
  await page.goto(await startSite(siteOf(`${arena.weir.url}/embed/${playbackId}`, jwt)));
  const player = await (await page.locator("iframe").elementHandle())?.contentFrame();
  if (!player) throw new Error("the page has no frame with the player");
  await untilMoving(player);

  // The page around it controls it.
  const isPaused = () => player.evaluate<boolean>("document.querySelector('weir-player').paused");
  expect(await isPaused()).toBe(false);
  const tell = (command: string) => `frames[0].postMessage({ type: 'weir:command', command: '${command}' }, '*')`;
  // Others do not: a frame beside it, of another origin or of none, even with many messages.
  const beside = await startSite(
    `<h1>Beside</h1><script>for (let i = 0; i < 20000; i++) parent.${tell("unmute")}; parent.postMessage("sent", "*");</script>`,
  );
  for (const sandbox of ["allow-scripts allow-same-origin", "allow-scripts"])
    await page.evaluate(`new Promise((resolve) => {
      addEventListener("message", ({ data }) => data === "sent" && resolve());
      document.body.append(Object.assign(document.createElement("iframe"), { src: "${beside}", sandbox: "${sandbox}" }));
    })`);
  await page.evaluate(tell("pause"));
  await expect.poll(isPaused).toBe(true);
  expect(await player.evaluate("document.querySelector('weir-player').muted")).toBe(true);
});

test("a page of another site plays a live stream with the player that the server hands out", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  await broadcast.untilSegments(1);
  const page = await openPage();
  const site = `<script type="module" src="${arena.weir.url}/player.js"></script>
    <weir-player playback-id="${broadcast.stream.playbackId}" label="On another site"></weir-player>`;
  await page.goto(await startSite(site));
  await untilMoving(page.mainFrame());
  expect(await page.getByLabel("On another site").getAttribute("src")).toMatch(/^blob:/);
});

test("a page of another site broadcasts with the element that the server hands out, and its end ends the session", async () => {
  const { client, url } = arena.weir;
  const stream = await client.streams.create({ name: "From another site", record: false, profiles: [] });
  const state = async () => (await client.streams.get(stream.id)).status.state;
  const page = await openPage();
  const site = `<script type="module" src="${url}/broadcast.js"></script>
    <weir-broadcast stream-key="${stream.streamKey}"></weir-broadcast>`;
  await page.goto(await startSite(site));
  await page.getByRole("button", { name: "Go live" }).click();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await page.getByText(/^\d+\.\d Mbit\/s$/).waitFor();
  await expect.poll(state).toBe("live");
  await page.getByRole("button", { name: "End broadcast" }).click();
  // A lost broadcaster would be waited for half a minute.
  await expect.poll(state, { timeout: 10_000 }).toBe("idle");
});

/** A page of another origin. */
async function startSite(body: string): Promise<string> {
  const server = createServer((_request, response) => response.setHeader("content-type", "text/html").end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function siteOf(embed: string, jwt: string): string {
  return `<iframe src="${embed}" allow="autoplay" width="640" height="360"></iframe><script>
    addEventListener("message", ({ source, data }) => {
      if (data.type === "weir:ready") source.postMessage({ type: "weir:credential", jwt: "${jwt}" }, "*");
    });
  </script>`;
}

function untilMoving(frame: Frame): Promise<void> {
  return expect
    .poll(
      () =>
        frame.evaluate("document.querySelector('weir-player')?.video?.getVideoPlaybackQuality().totalVideoFrames ?? 0"),
      {
        timeout: 30_000,
      },
    )
    .toBeGreaterThan(30);
}
