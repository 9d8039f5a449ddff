import { execFile, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RtmpTestServer } from "../src/media/ingest/rtmp/rtmp-test-server.ts";
import { FIRST, RENEWED } from "../src/platform/http/certificate.fixture.ts";
import { makeTestFolder } from "../src/platform/test-folder-rig.ts";
import { openArena } from "./support/arena.ts";
import { reachesEveryOutput } from "./support/every-output.ts";
import { GStreamerRtsp } from "./support/gstreamer-rtsp.ts";
import { NginxRtmp } from "./support/nginx-rtmp.ts";
import { checkTimes, recordedTimes, stepsOf } from "./support/recorded-times.ts";

/** Sources that nobody here wrote: files of ffmpeg over HTTP with a password, srt-live-transmit, nginx's RTMP, and GStreamer's RTSP server. */

const RENEWEDS = 16;
const folder = makeTestFolder("pull");
const trusted = join(folder, "trusted.pem");
beforeAll(() => writeFile(trusted, FIRST.cert));
const arena = openArena({ env: { WEIR_PULL_NETWORKS: "127.0.0.0/8", NODE_EXTRA_CA_CERTS: trusted } });
/** Targets lead to this machine too. */
const open = openArena({ env: { WEIR_ALLOW_PRIVATE_URLS: "1" } });
const server = createServer(async ({ url = "", headers }, response) => {
  if (headers.authorization !== `Basic ${btoa("me:pass")}`) return void response.writeHead(401).end();
  const file = await readFile(join(folder, url.slice(1))).catch(() => null);
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  const part = file?.subarray(Number(from ?? 0));
  response
    .writeHead(part ? (from === undefined ? 200 : 206) : 404, part ? { "content-length": part.byteLength } : {})
    .end(part);
});

async function freeUdpPort(): Promise<number> {
  const probe = createSocket("udp4").bind(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise<void>((resolve) => probe.close(resolve));
  return port;
}

const addressOf = (name: string) => `http://me:pass@127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;

beforeAll(async () => {
  const media = `-f lavfi -i testsrc2=size=320x180:rate=30 -f lavfi -i sine=frequency=440:sample_rate=48000 -t ${RENEWEDS}`;
  const codecs = "-c:v libx264 -preset ultrafast -g 60 -bf 2 -pix_fmt yuv420p -c:a aac -b:a 96k";
  const make = (out: string) =>
    promisify(execFile)("ffmpeg", [...`-v error -nostdin ${media} ${codecs} ${out}`.split(" ")], { cwd: folder });
  await make("-f hls -hls_time 4 -hls_list_size 0 list.m3u8");
  await make("-f mpegts file.ts");
  await make("index-last.mp4");
  await make("-f hls -hls_time 4 -hls_list_size 0 -hls_segment_type fmp4 in-mp4.m3u8");
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
}, 60_000);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

test.each(["list.m3u8", "file.ts", "index-last.mp4", "in-mp4.m3u8"])(
  "%s is pulled in real time, plays, is recorded whole, and ends",
  async (name) => {
    const { client } = arena.weir;
    const startedAt = performance.now();
    const stream = await client.streams.pull({ name, profiles: [], record: true, pull: { source: addressOf(name) } });
    expect(JSON.stringify(stream)).not.toContain("me:pass");
    const now = async () => (await client.streams.get(stream.id)).status;
    await expect.poll(async () => (await now()).state, { timeout: 20_000 }).toBe("live");
    expect((await now()).pull?.state).toBe("pulling");
    const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
    await player.untilMoving(60);
    await player.close();
    await expect.poll(async () => (await now()).pull?.state, { timeout: 40_000 }).toBe("ended");
    expect((performance.now() - startedAt) / 1000).toBeGreaterThan(RENEWEDS - 1);
    await expect.poll(async () => (await now()).state, { timeout: 10_000 }).toBe("idle");
    const [session] = (await client.sessions.ofStream(stream.id)).items;
    expect(session?.sourceSegmentsDuration).toBeCloseTo(RENEWEDS, 0);
    expect(arena.weir.log).not.toContain("me:pass");
  },
);

test("srt-live-transmit is called with its passphrase, plays, and is called again after it was gone", async () => {
  const { client } = arena.weir;
  const [udp, srt] = [await freeUdpPort(), await freeUdpPort()];
  await using children = new AsyncDisposableStack();
  const start = (program: string, args: string) => {
    const child = spawn(program, args.split(" "), { cwd: folder, stdio: "ignore" });
    children.defer(() => void child.kill("SIGKILL"));
    return child;
  };
  const secret = "passphrase=a0secret0word";
  const listen = () =>
    start("srt-live-transmit", `udp://127.0.0.1:${udp} srt://127.0.0.1:${srt}?mode=listener&${secret}`);
  start(
    "ffmpeg",
    `-v error -nostdin -re -stream_loop -1 -i file.ts -c copy -f mpegts udp://127.0.0.1:${udp}?pkt_size=1316`,
  );
  const listener = listen();
  const source = `srt://127.0.0.1:${srt}?${secret}&latency=200`;
  const stream = await client.streams.pull({ name: "srt", profiles: [], pull: { source } });
  const now = async () => (await client.streams.get(stream.id)).status;
  const isLive = () => expect.poll(async () => (await now()).state, { timeout: 30_000 }).toBe("live");
  await isLive();
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  await player.untilMoving(60);
  await player.close();
  listener.kill("SIGKILL");
  await expect.poll(async () => (await now()).pull?.state, { timeout: 30_000 }).toBe("retrying");
  listen();
  await isLive();
  await expect.poll(async () => (await now()).pull?.state, { timeout: 30_000 }).toBe("pulling");
  await client.streams.delete(stream.id);
  expect(arena.weir.log).not.toContain("a0secret0word");
});

test("RTMP of nginx plays, is recorded, and goes on after it was gone", async () => {
  const { client } = arena.weir;
  await using nginx = await NginxRtmp.start();
  await using children = new AsyncDisposableStack();
  const send = (program = "ffmpeg") => {
    const args = `-v error -nostdin -re -stream_loop -1 -i file.ts -c copy -f flv ${nginx.urlOf("a0secret0name")}`;
    const child = spawn(program, args.split(" "), { cwd: folder, stdio: "ignore" });
    children.defer(() => void child.kill("SIGKILL"));
  };
  send();
  const source = nginx.urlOf("a0secret0name");
  await expect
    .poll(async () => (await client.streams.tryPull({ source })).tracks.map(({ kind }) => kind).toSorted(), {
      timeout: 30_000,
    })
    .toEqual(["audio", "video"]);
  const stream = await client.streams.pull({ name: "rtmp", profiles: [], record: true, pull: { source } });
  expect(JSON.stringify(stream)).not.toContain("a0secret0name");
  const now = async () => (await client.streams.get(stream.id)).status;
  const pullState = async () => (await now()).pull?.state;
  await expect.poll(async () => (await now()).state, { timeout: 20_000 }).toBe("live");
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  expect((await player.untilMoving(60)).audioBytes).toBeGreaterThan(0);
  await nginx.kill();
  await expect.poll(pullState, { timeout: 30_000 }).toBe("retrying");
  await nginx.restart();
  send();
  await expect.poll(pullState, { timeout: 60_000 }).toBe("pulling");
  await player.untilMoving(90);
  await player.close();
  await client.streams.terminate(stream.id);
  // Where nginx was away, and where the file began again.
  expect(checkTimes(await recordedTimes(arena.weir, stream.id))).toBeLessThanOrEqual(3);
  expect(arena.weir.log).not.toContain("a0secret0name");
});

test.each(["H.264 and AAC", "H.264 with B-frames and AAC"] as const)(
  "RTSP of GStreamer: %s with Digest plays with sound, goes on after it was gone, and is recorded",
  async (media) => {
    const { client } = arena.weir;
    await using camera = await GStreamerRtsp.start(media);
    const source = camera.urlWith(camera.password);
    const stream = await client.streams.pull({ name: "camera", profiles: [], record: true, pull: { source } });
    expect(JSON.stringify(stream)).not.toContain(camera.password);
    const now = async () => (await client.streams.get(stream.id)).status;
    const pullState = async () => (await now()).pull?.state;
    await expect.poll(async () => (await now()).state, { timeout: 20_000 }).toBe("live");
    const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
    const shown = await player.untilMoving(60);
    expect(shown.width).toBe(320);
    expect(shown.audioBytes).toBeGreaterThan(0);
    await camera.kill();
    await expect.poll(pullState, { timeout: 30_000 }).toBe("retrying");
    await camera.restart();
    await expect.poll(pullState, { timeout: 30_000 }).toBe("pulling");
    await player.untilMoving(90);
    await player.close();
    await client.streams.terminate(stream.id);
    const times = await recordedTimes(arena.weir, stream.id);
    // Where the camera was away.
    expect(checkTimes(times)).toBeLessThanOrEqual(1);
    expect(stepsOf(times.video).some((step) => step < 0)).toBe(media.includes("B-frames"));
    const wrong = await client.streams.pull({ name: "w", profiles: [], pull: { source: camera.urlWith("not0it") } });
    const wrongPull = async () => (await client.streams.get(wrong.id)).status.pull;
    await expect.poll(async () => (await wrongPull())?.state, { timeout: 20_000 }).toBe("retrying");
    expect((await wrongPull())?.reason).toBe("The source answered 401. Check its user name and password.");
    await client.streams.delete(wrong.id);
    expect(arena.weir.log).not.toMatch(new RegExp(`${camera.password}|not0it`));
  },
);

test("RTSP of GStreamer over TLS: H.264 and Opus are played and recorded, and its certificate is checked", async () => {
  const { client } = arena.weir;
  await using camera = await GStreamerRtsp.start("H.264 and Opus", FIRST.cert + FIRST.key);
  await using stranger = await GStreamerRtsp.start("H.264 and Opus", RENEWED.cert + RENEWED.key);
  const { problem } = await client.streams.tryPull({ source: stranger.urlWith(stranger.password) });
  expect(problem).toContain("cannot be trusted");
  const source = camera.urlWith(camera.password);
  const { tracks } = await client.streams.tryPull({ source });
  expect(tracks.map(({ kind }) => kind).toSorted()).toEqual(["audio", "video"]);
  const stream = await client.streams.pull({ name: "secure", profiles: [], record: true, pull: { source } });
  await expect.poll(async () => (await client.streams.get(stream.id)).status.state, { timeout: 20_000 }).toBe("live");
  const player = await arena.browser.playHls(arena.weir.hlsUrl(stream.playbackId));
  const shown = await player.untilMoving(240);
  expect(shown.width).toBe(320);
  // The first viewer hears it: its track is known before its converter has started.
  expect(shown.audioBytes).toBeGreaterThan(0);
  await player.close();
  await client.streams.terminate(stream.id);
  const { video, audio } = await recordedTimes(arena.weir, stream.id);
  expect(video.length).toBeGreaterThan(200);
  expect(audio.length).toBeGreaterThan(200);
});

test("RTSP of GStreamer: HEVC with B-frames and G.711 are recorded, without a missing picture", async () => {
  const { client } = arena.weir;
  await using camera = await GStreamerRtsp.start("HEVC with B-frames and G.711");
  const source = camera.urlWith(camera.password);
  const stream = await client.streams.pull({ name: "hevc", profiles: [], record: true, pull: { source } });
  const session = async () => (await client.sessions.ofStream(stream.id)).items[0];
  const recordedSeconds = async () => (await session())?.sourceSegmentsDuration ?? 0;
  await expect.poll(recordedSeconds, { timeout: 40_000 }).toBeGreaterThan(4);
  await client.streams.terminate(stream.id);
  const times = await recordedTimes(arena.weir, stream.id);
  expect(checkTimes(times)).toBe(0);
  expect(stepsOf(times.video).some((step) => step < 0)).toBe(true);
});

test("a source with a wrong password, and one that is not there, are tried again with a reason", async () => {
  const { client } = arena.weir;
  const reasonOf = async (source: string) => {
    const { id } = await client.streams.pull({ name: "p", profiles: [], pull: { source } });
    const state = async () => (await client.streams.get(id)).status.pull;
    await expect.poll(async () => (await state())?.state, { timeout: 20_000 }).toBe("retrying");
    return (await state())?.reason;
  };
  expect(await reasonOf(addressOf("list.m3u8").replace("pass", "wrong"))).toContain("answered 401");
  expect(await reasonOf(addressOf("nothing.ts"))).toContain("404");
  expect(await reasonOf("http://127.0.0.1:8/live.ts")).toContain("cannot be reached");
});

test("RTSP of GStreamer reaches every output", async () => {
  await reachesEveryOutput(open, RtmpTestServer.start(), "rtsp", async (stream, closing) => {
    const camera = closing.use(await GStreamerRtsp.start("H.264 and AAC"));
    await open.weir.client.streams.patch(stream.id, { pull: { source: camera.urlWith(camera.password) } });
    await open.weir.client.streams.startPull(stream.id);
    return () => open.weir.client.streams.terminate(stream.id);
  });
});

test("a source is connected to with the first viewer, let go about a minute after the last one left, and connected to again", async () => {
  const { client } = arena.weir;
  let [open, all] = [0, 0];
  const live = createServer((_request, response) => {
    const args = "-v error -nostdin -re -stream_loop -1 -i file.ts -c copy -f mpegts pipe:1";
    const program = "ffmpeg";
    const child = spawn(program, args.split(" "), { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
    open++;
    all++;
    response.once("close", () => {
      open--;
      child.kill("SIGKILL");
    });
    child.stdout.pipe(response);
  });
  await using closing = new AsyncDisposableStack();
  await new Promise<void>((resolve) => live.listen(0, "127.0.0.1", resolve));
  closing.defer(() => {
    live.closeAllConnections();
    live.close();
  });
  const source = `http://127.0.0.1:${(live.address() as AddressInfo).port}/live.ts`;
  const pull = { source, onlyWhileWatched: true };
  const { id, playbackId } = await client.streams.pull({ name: "watched", profiles: [], pull });
  const url = arena.weir.hlsUrl(playbackId);
  const now = async () => (await client.streams.get(id)).status;
  const multivariant = async () => (await fetch(url)).text();
  const waits = { state: "idle", pull: { state: "waiting", reason: expect.stringContaining("Waiting for a viewer") } };
  const come = async (answer: string) => {
    expect(await now()).toMatchObject(waits);
    expect(open).toBe(0);
    const asked = performance.now();
    expect(await multivariant()).toContain(answer);
    await expect.poll(() => open, { timeout: 5_000, interval: 20 }).toBe(1);
    expect(performance.now() - asked).toBeLessThan(2_000);
  };
  await come("offline");
  await expect.poll(multivariant, { timeout: 20_000 }).toContain("EXT-X-STREAM-INF");
  const player = await arena.browser.playHls(url);
  await player.untilMoving(60);
  await player.close();
  const left = performance.now();
  await expect.poll(() => open, { timeout: 120_000 }).toBe(0);
  expect(performance.now() - left).toBeGreaterThan(45_000);
  await expect.poll(async () => (await now()).state, { timeout: 10_000 }).toBe("idle");
  // The end of a broadcast that was just over is still shown.
  await come("EXT-X-STREAM-INF");
  expect(all).toBe(2);
  await client.streams.delete(id);
}, 300_000);
