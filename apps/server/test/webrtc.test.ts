import { ALL_FORMATS, BufferSource, Input } from "mediabunny";
import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { signIn } from "./support/dashboard-page.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

const arena = shareArena();

/** Waits until the live playlist of the source has parts. */
async function expectLowLatency(hlsUrl: string): Promise<void> {
  const source = async () => {
    const [address] = /^s\/.*\/source\/index\.m3u8/m.exec(await textOf(hlsUrl)) ?? [];
    return address === undefined ? "" : textOf(new URL(address, hlsUrl).href);
  };
  await expect.poll(source).toContain("#EXT-X-PART:");
}

/** Checks that the stream's newest session has HLS and an MP4 with audio and video. */
async function expectRecorded(streamId: string): Promise<void> {
  const newest = async () => (await arena.weir.client.sessions.ofStream(streamId)).items[0];
  await expect.poll(async () => (await newest())?.recordingStatus, { timeout: 20_000 }).toBe("ready");
  const { recordingUrl = "", mp4Url = "" } = (await newest()) ?? {};
  const list = await textOf(recordingUrl);
  const addresses = [...list.matchAll(/[^\n"]*\/(?:source|audio)\/index\.m3u8/g)].map(([address]) => address);
  expect(addresses).toHaveLength(2);
  for (const address of addresses)
    expect(await textOf(new URL(address, recordingUrl).href)).toMatch(/#EXTINF.*#EXT-X-ENDLIST/s);
  const source = new BufferSource(await fetch(mp4Url).then((answer) => answer.arrayBuffer()));
  const file = new Input({ formats: ALL_FORMATS, source });
  const [video, audio] = [await file.getPrimaryVideoTrack(), await file.getPrimaryAudioTrack()];
  expect([video?.codec, audio?.codec]).toEqual(["avc", "aac"]);
}

const textOf = (url: string): Promise<string> => fetch(url).then((answer) => answer.text());

test("a browser watches an RTMP stream with B-frames and AAC by WHEP, in addition to LL-HLS and the recording", async () => {
  await using broadcast = await startBroadcast(arena.weir, { bFrames: 2, stream: { profiles: [], record: true } });
  await broadcast.untilState("live");
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  const whepUrl = arena.weir.webrtcUrl(broadcast.stream.playbackId);
  const answer = await viewer.watch(whepUrl);
  const { meta } = await arena.weir.client.playback.get(broadcast.stream.playbackId);
  expect(meta.source.map(({ hrn, url }) => [hrn, url])[1]).toEqual(["WebRTC (H264)", whepUrl]);
  expect(answer).toMatchObject({ status: 201, location: expect.stringMatching(/^\/webrtc\/[a-z0-9]+\/[\w-]{22}$/) });
  const figures = await viewer.until("pictures and sound", ({ frames, loudness }) => frames > 60 && loudness > 0.01);
  expect(figures).toMatchObject({ width: 640, lost: 0 });
  await expectLowLatency(broadcast.hlsUrl);
  await broadcast.publisher.stop();
  await expectRecorded(broadcast.stream.id);
});

test("a browser's camera, published by WHIP, is watched by WHEP and LL-HLS, and recorded", async () => {
  const { client } = arena.weir;
  const stream = await client.streams.create({ name: "whip", record: true, profiles: [] });
  await using publisher = await WebrtcPage.open(arena.browser, arena.weir.url);
  expect((await publisher.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""))).status).toBe(201);
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  await expect
    .poll(async () => (await viewer.watch(arena.weir.webrtcUrl(stream.playbackId))).status, { interval: 300 })
    .toBe(201);
  await viewer.until("pictures and sound", ({ frames, loudness }) => frames > 30 && loudness > 0.01);
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  const shown = await player.untilMoving();
  expect(shown.audioBytes).toBeGreaterThan(0);
  await player.close();
  await expectLowLatency(arena.weir.hlsUrl(stream.playbackId));
  expect((await publisher.stop()).status).toBe(200);
  await expectRecorded(stream.id);
});

test("a user broadcasts from the dashboard, and another watches in real time, or by HLS as a fallback", async () => {
  const { weir, browser } = arena;
  const stream = await weir.client.streams.create({ name: "studio", profiles: [] });
  const studio = await browser.context.newPage();
  await studio.goto(`${weir.url}/streams/${stream.id}`);
  await signIn(studio, weir);
  await studio.getByRole("link", { name: "Broadcast from browser" }).click();
  await studio.getByRole("button", { name: "Go live" }).click();
  await studio.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await studio.getByText("1280×720").waitFor();
  // A refresh of the page that fails does not end the broadcast.
  const refreshes = `**/api/stream/${stream.id}`;
  await studio.route(refreshes, (route) => route.fulfill({ status: 500, json: { errors: ["no database"] } }));
  await studio.getByText("no database").waitFor();
  await studio.unroute(refreshes);
  await studio.getByRole("status").getByText("Live", { exact: true }).waitFor();
  const viewer = await browser.context.newPage();
  const isLive = async () => (await weir.client.streams.get(stream.id)).isActive;
  await expect.poll(isLive, { timeout: 20_000 }).toBe(true);
  await viewer.goto(`${weir.url}/watch/${stream.playbackId}`);
  await viewer.getByRole("button", { name: "Real time" }).click();
  const shown = () =>
    viewer.evaluate(
      "document.querySelector('video')?.srcObject ? document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames : 0",
    );
  await expect.poll(shown, { timeout: 20_000 }).toBeGreaterThan(30);
  await viewer.getByRole("button", { name: "Real time" }).click();
  await expect.poll(() => viewer.evaluate("document.querySelector('video').srcObject")).toBeNull();
  await viewer.route("**/webrtc/**", (route) => route.fulfill({ status: 406, body: "no room" }));
  await viewer.getByRole("button", { name: "Real time" }).click();
  await viewer.getByText("Real time is not available here").waitFor();
  const playsHls = "(({ srcObject, paused, readyState }) => !srcObject && !paused && readyState > 2)";
  await expect.poll(() => viewer.evaluate(`${playsHls}(document.querySelector('video'))`)).toBe(true);
  await viewer.close();
  // Its page is told, and does not take the stream back by itself.
  await using other = await WebrtcPage.open(browser, weir.url);
  expect((await other.publish(weir.webrtcUrl(stream.streamKey ?? ""))).status).toBe(201);
  const told = studio.getByText("Another encoder took this stream over.");
  await told.waitFor({ timeout: 5000 });
  await studio.getByRole("button", { name: "Go live again" }).click();
  await told.waitFor({ state: "hidden" });
  await studio.getByRole("status").getByText("Live", { exact: true }).waitFor();
  await studio.getByRole("button", { name: "End broadcast" }).click();
  await expect.poll(isLive, { timeout: 20_000 }).toBe(false);
  await studio.close();
});
