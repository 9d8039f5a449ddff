import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { signedInPage } from "./support/dashboard-page.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

const arena = shareArena();
let page: Page;

beforeAll(async () => {
  page = await signedInPage(arena);
  page.setDefaultTimeout(20_000);
});
// A second try begins like the first.
beforeEach(() => page.unrouteAll());

test("a broadcast from the browser connects again after a failure, goes live with its camera, and its end ends the session", async () => {
  const { client } = arena.weir;
  const stream = await client.streams.create({ name: "From the browser", record: false, profiles: [] });
  const state = async () => (await client.streams.get(stream.id)).status.state;
  await page.goto(`${arena.weir.url}/streams/${stream.id}`);
  await page.getByRole("link", { name: "Broadcast from browser" }).click();
  const status = page.getByRole("status");
  const whip = `**/webrtc/${stream.streamKey}`;

  // A refusal is final, and its sentence is shown.
  await page.route(whip, (route) => route.fulfill({ status: 403, body: "This key is taken." }), { times: 1 });
  await page.getByRole("button", { name: "Go live" }).click();
  await status.getByText("The broadcast failed").waitFor();
  await page.getByText("This key is taken.").waitFor();

  // A server that starts is asked again.
  await page.route(whip, (route) => route.fulfill({ status: 503, body: "The server is starting." }), { times: 1 });
  await page.getByRole("button", { name: "Go live again" }).click();
  await page.getByText("The server is starting.").waitFor();
  await status.getByText("Live", { exact: true }).waitFor();
  await expect.poll(state).toBe("live");
  await page
    .locator("dl > div", { hasText: "Video" })
    .getByText(/^[1-9]\d+×[1-9]\d+, \d+ fps$/)
    .waitFor();
  // A chosen camera takes the place of the browser's choice, and ends nothing.
  const sent = () => page.evaluate<string>("document.querySelector('weir-broadcast').media.getVideoTracks()[0].id");
  const before = await sent();
  await page.getByLabel("Camera", { exact: true }).selectOption({ label: "fake_device_0" });
  await expect.poll(sent).not.toBe(before);
  await status.getByText("Live", { exact: true }).waitFor();
  const viewer = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  await viewer.untilMoving();
  await viewer.close();

  // A refresh of the page that fails does not end the broadcast.
  const refreshes = `**/api/stream/${stream.id}`;
  await page.route(refreshes, (route) => route.fulfill({ status: 500, json: { errors: ["no database"] } }));
  await page.getByText("no database").waitFor();
  await page.unroute(refreshes);
  await status.getByText("Live", { exact: true }).waitFor();

  // A link does not end it unasked.
  await page.getByRole("link", { name: "Assets", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Leave and end the broadcast?" });
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "hidden" });
  expect(await state()).toBe("live");

  // An encoder that takes the stream over is told of, and the page does not take the stream back by itself.
  await using other = await WebrtcPage.open(arena.browser, arena.weir.url);
  expect((await other.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""))).status).toBe(201);
  const taken = page.getByText("Another encoder took this stream over.");
  await taken.waitFor();
  await page.getByRole("button", { name: "Go live again" }).click();
  await taken.waitFor({ state: "hidden" });
  await status.getByText("Live", { exact: true }).waitFor();

  await page.getByRole("button", { name: "End broadcast" }).click();
  // A lost broadcaster would be waited for half a minute.
  await expect.poll(state, { timeout: 10_000 }).toBe("idle");
  await page.getByRole("button", { name: "Go live", exact: true }).waitFor();
  expect((await client.sessions.ofStream(stream.id)).items).toMatchObject([{ isActive: false }]);
});

test("the player changes from HLS to WebRTC and back, and goes on by HLS when WebRTC is refused", async () => {
  await using broadcast = await startBroadcast(arena.weir);
  const { playbackId, id } = broadcast.stream;
  await page.goto(`${arena.weir.url}/streams/${id}`);
  const realTime = page.getByRole("button", { name: "Real time" });
  const isPressed = () => realTime.getAttribute("aria-pressed");
  // The controls fade while nobody moves the mouse.
  const latency = () =>
    page.evaluate<string | null>(
      `(({ hidden, textContent }) => (hidden ? null : textContent))(document.querySelector("weir-player").shadowRoot.querySelector(".w-player-latency"))`,
    );
  await untilPlayedBy("hls");
  expect(await isPressed()).toBe("false");
  await expect.poll(latency).toMatch(/\d s behind live/);

  const ended = page.waitForRequest((request) => request.method() === "DELETE" && request.url().includes("/webrtc/"));
  await realTime.click();
  await untilPlayedBy("webrtc");
  expect(await isPressed()).toBe("true");
  expect(await latency()).toBe(null);

  await realTime.click();
  await untilPlayedBy("hls");
  expect(await isPressed()).toBe("false");
  await ended;

  await page.route(`**/webrtc/${playbackId}*`, (route) => route.fulfill({ status: 403, body: "no" }));
  await realTime.click();
  await page.getByText("Real time is not available here.").waitFor();
  expect(await isPressed()).toBe("false");
  await untilPlayedBy("hls");
});

/** Resolves when the video shows twenty more pictures that come this way. */
async function untilPlayedBy(way: "hls" | "webrtc"): Promise<void> {
  const look = (): Promise<{ way: string; frames: number }> =>
    page.evaluate(`(() => {
      const video = document.querySelector("weir-player")?.video;
      const frames = video?.getVideoPlaybackQuality().totalVideoFrames ?? 0;
      return { way: video?.srcObject instanceof MediaStream ? "webrtc" : video?.src.startsWith("blob:") ? "hls" : "none", frames };
    })()`);
  await expect.poll(async () => (await look()).way).toBe(way);
  const { frames } = await look();
  await expect.poll(async () => (await look()).frames, { timeout: 20_000 }).toBeGreaterThan(frames + 20);
  expect((await look()).way).toBe(way);
}
