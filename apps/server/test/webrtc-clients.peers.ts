import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { PublicPlayerSite } from "./support/public-player.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

const arena = openArena();
const PUBLISHER = fileURLToPath(new URL("./support/whip-publisher-child.ts", import.meta.url));
/** Clients that are not development dependencies. */
const PACKAGES = process.env.WEIR_TEST_PLAYERS ?? join(tmpdir(), "weir-players");

/** The part of werift's API that a viewer needs. */
interface Werift {
  readonly RTCPeerConnection: new (options: object) => WeriftConnection;
  readonly useH264: () => object;
  readonly useOPUS: () => object;
}

interface WeriftConnection {
  addTransceiver(kind: string, options: object): void;
  createOffer(): Promise<{ sdp: string }>;
  setLocalDescription(description: object): Promise<unknown>;
  setRemoteDescription(description: object): Promise<unknown>;
  readonly localDescription?: { readonly sdp: string };
  readonly onTrack: { subscribe(take: (track: WeriftTrack) => void): void };
  close(): Promise<void>;
}

interface WeriftTrack {
  readonly kind: string;
  readonly onReceiveRtp: { subscribe(take: (packet: { readonly payload: Buffer }) => void): void };
}

test("FFmpeg's WHIP muxer publishes, and a browser watches it", async () => {
  const stream = await arena.weir.client.streams.create({ name: "ffmpeg", profiles: [] });
  const child = spawn(process.execPath, [PUBLISHER, arena.weir.webrtcUrl(stream.streamKey ?? ""), "20"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const isLive = async () => (await arena.weir.client.streams.get(stream.id)).isActive;
  await expect.poll(isLive, { timeout: 20_000 }).toBe(true);
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  expect((await viewer.watch(arena.weir.webrtcUrl(stream.playbackId))).status).toBe(201);
  await viewer.until("pictures and sound", ({ frames, loudness }) => frames > 90 && loudness > 0.01);
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  await player.untilMoving();
  await player.close();
});

test("werift, which shares no code with the server's library, watches an RTMP stream", async () => {
  const path = join(PACKAGES, "node_modules", "werift");
  if (!existsSync(path))
    throw new Error(
      `there is no werift: npm install --prefix ${PACKAGES} --ignore-scripts werift@0.24.4, or name a folder in WEIR_TEST_PLAYERS`,
    );
  const { RTCPeerConnection, useH264, useOPUS } = createRequire(import.meta.url)(path) as Werift;
  await using broadcast = await startBroadcast(arena.weir, { bFrames: 2, stream: { profiles: [] } });
  await broadcast.untilState("live");
  const connection = new RTCPeerConnection({ codecs: { video: [useH264()], audio: [useOPUS()] } });
  onTestFinished(() => connection.close());
  const got = { video: 0, audio: 0, idr: 0 };
  connection.onTrack.subscribe((track) => {
    track.onReceiveRtp.subscribe(({ payload }) => {
      if (track.kind === "audio") got.audio++;
      else got.video++;
      const [first = 0, second = 0] = payload;
      if (track.kind === "video" && (first & 31) === 28 && (second & 31) === 5) got.idr++;
    });
  });
  for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
  await connection.setLocalDescription(await connection.createOffer());
  const answer = await fetch(arena.weir.webrtcUrl(broadcast.stream.playbackId), {
    method: "POST",
    headers: { "content-type": "application/sdp" },
    body: connection.localDescription?.sdp ?? "",
  });
  const sdp = await answer.text();
  expect([answer.status, sdp]).toEqual([201, expect.stringContaining("m=video")]);
  await connection.setRemoteDescription({ type: "answer", sdp });
  await expect.poll(() => got.video > 100 && got.audio > 100 && got.idr > 0, { timeout: 20_000 }).toBe(true);
});

test("the public broadcaster publishes, and the public player plays it by WebRTC, both unmodified", async () => {
  const { weir, browser } = arena;
  const stream = await weir.client.streams.create({ name: "public", profiles: [] });
  await using site = await PublicPlayerSite.start(browser, "broadcast");
  const broadcaster = await site.open({ streamKey: stream.streamKey ?? "", baseUrl: `${weir.url}/webrtc` });
  onTestFinished(() => broadcaster.close());
  await expect.poll(() => broadcaster.locator("#root").innerText(), { timeout: 30_000 }).toContain("broadcast: live");
  const isLive = async () => (await weir.client.streams.get(stream.id)).isActive;
  await expect.poll(isLive, { timeout: 20_000 }).toBe(true);
  await using players = await PublicPlayerSite.start(browser);
  const player = await players.open({ info: await weir.client.playback.get(stream.playbackId) });
  onTestFinished(() => player.close());
  await expect.poll(() => player.locator("#root").innerText(), { timeout: 30_000 }).toContain("playing");
  // With HLS the video element would have a media source or a URL.
  await expect.poll(() => player.evaluate("document.querySelector('video').srcObject !== null")).toBe(true);
});
