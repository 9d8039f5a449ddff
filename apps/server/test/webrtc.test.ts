import { expect, test } from "vitest";
import { shareArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { expectLowLatency, expectRecorded } from "./support/outputs.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

const arena = shareArena();

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
  await expectRecorded(arena.weir, broadcast.stream.id);
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
  await expectRecorded(arena.weir, stream.id);
});
