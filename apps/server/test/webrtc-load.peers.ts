import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { openArena } from "./support/arena.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { LossyRelay } from "./support/lossy-relay.ts";
import { WebrtcPage } from "./support/webrtc-page.ts";

const arena = openArena();
const VIEWERS = fileURLToPath(new URL("./support/webrtc-viewers-child.ts", import.meta.url));
const TICKS_PER_SECOND = 100;

/** The server's WebRTC process. */
function webrtcPid(): number {
  const pids = execFileSync("pgrep", ["-P", String(arena.weir.pid)], { encoding: "utf8" })
    .trim()
    .split("\n");
  const found = pids.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("webrtc-child.ts"));
  if (!found) throw new Error("there is no WebRTC process");
  return Number(found);
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

interface ViewersReport {
  readonly viewers: number;
  readonly leastPictures: number;
  readonly bytes: number;
  readonly lost: number;
}

/** node-datachannel viewers in a separate process, with their last report. */
function startViewers(url: string, count: number): { readonly child: ChildProcess; report: ViewersReport | null } {
  const child = spawn(process.execPath, [VIEWERS, url, String(count)], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const started = { child, report: null as ViewersReport | null };
  child.stdout?.on("data", (text) => {
    started.report = JSON.parse(String(text).trim().split("\n").at(-1) ?? "null");
  });
  return started;
}

test("the first viewer of a server has a picture within a second, and so has the first of a stream with B-frames", async () => {
  for (const bFrames of [0, 2]) {
    await using broadcast = await startBroadcast(arena.weir, { bFrames, stream: { profiles: [] } });
    await broadcast.untilSegments(2);
    await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
    await viewer.watch(arena.weir.webrtcUrl(broadcast.stream.playbackId));
    const { firstFrameMs } = await viewer.until("a picture", (figures) => figures.firstFrameMs !== null);
    console.log(`first picture with ${bFrames} B-frames: ${Math.round(firstFrameMs ?? 0)} ms`);
    expect(firstFrameMs).toBeLessThanOrEqual(1000);
  }
});

test("forty viewers of 2.1 Mbit/s cost at most 7 thousandths of a core each, and none loses a packet", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    ...{ width: 1280, height: 720, bitrateBps: 2_000_000, seconds: 150, audio: true },
    stream: { profiles: [] },
  });
  await broadcast.untilState("live");
  const url = arena.weir.webrtcUrl(broadcast.stream.playbackId);
  const one = startViewers(url, 1);
  await vi.waitUntil(() => (one.report?.leastPictures ?? 0) > 30, { timeout: 20_000 });
  const pid = webrtcPid();
  const measure = async (seconds: number) => {
    const before = [cpuSeconds(pid), cpuSeconds(arena.weir.pid)] as const;
    await sleep(seconds * 1000);
    return [(cpuSeconds(pid) - before[0]) / seconds, (cpuSeconds(arena.weir.pid) - before[1]) / seconds] as const;
  };
  const idle = await measure(10);
  const many = startViewers(url, 40);
  await vi.waitUntil(() => many.report?.viewers === 40, { timeout: 60_000 });
  const first = many.report;
  const loaded = await measure(20);
  const last = many.report;
  const each = (loaded[0] + loaded[1] - idle[0] - idle[1]) / 40;
  const bps = (((last?.bytes ?? 0) - (first?.bytes ?? 0)) * 8) / 20 / 40;
  console.log(
    `each viewer: ${(each * 1000).toFixed(1)} thousandths of a core, ${(bps / 1e6).toFixed(2)} Mbit/s`,
    last,
    idle,
    loaded,
  );
  expect(last?.lost).toBe(0);
  expect(each).toBeLessThanOrEqual(0.007);
});

test("from a browser's picture to another browser's screen it takes at most half a second", async () => {
  const stream = await arena.weir.client.streams.create({ name: "clock", profiles: [] });
  await using publisher = await WebrtcPage.open(arena.browser, arena.weir.url);
  await publisher.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""), { clock: true });
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  const url = arena.weir.webrtcUrl(stream.playbackId);
  await expect.poll(async () => (await viewer.watch(url)).status, { interval: 300 }).toBe(201);
  const { firstFrameMs } = await viewer.until("many pictures", ({ frames }) => frames > 250, 30_000);
  const latencies = [...(await viewer.latencies())].sort((a, b) => a - b);
  const median = latencies[Math.floor(latencies.length / 2)] ?? Number.NaN;
  console.log(
    `WHIP to WHEP: median ${median} ms of ${latencies.length}, worst ${latencies.at(-1)} ms, first picture ${firstFrameMs} ms`,
  );
  const roundTrips = async () =>
    (await arena.weir.client.streams.health(stream.id)).metrics.WebrtcRoundTripMillis ?? [];
  const sides = async () => (await roundTrips()).map(({ dimensions }) => dimensions.side).toSorted();
  await expect.poll(sides, { timeout: 25_000, interval: 500 }).toEqual(["publisher", "viewers"]);
  for (const { last } of await roundTrips()) expect(last[1]).toBeLessThan(200);
  expect(latencies.length).toBeGreaterThan(100);
  expect(median).toBeLessThanOrEqual(500);
  expect(firstFrameMs).toBeLessThanOrEqual(1000);
});

test("a browser's camera of 720p reaches 2 Mbit/s within 5 s", async () => {
  const stream = await arena.weir.client.streams.create({ name: "fast", profiles: [] });
  await using publisher = await WebrtcPage.open(arena.browser, arena.weir.url);
  await publisher.publish(arena.weir.webrtcUrl(stream.streamKey ?? ""));
  const { connectedMs } = await publisher.until("a connection", (figures) => figures.connectedMs !== null);
  await sleep(5000);
  const { targetBps, sentWidth } = await publisher.figures();
  console.log(`after 5 s: ${targetBps} bit/s, ${sentWidth} wide, connected in ${connectedMs} ms`);
  expect(targetBps).toBeGreaterThanOrEqual(2_000_000);
});

test("with 5 % packet loss, reordering and replayed handshakes the picture never freezes for a second", async () => {
  await using broadcast = await startBroadcast(arena.weir, {
    bitrateBps: 1_500_000,
    seconds: 60,
    stream: { profiles: [] },
  });
  await broadcast.untilState("live");
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  const probe = await viewer.watch(arena.weir.webrtcUrl(broadcast.stream.playbackId));
  const port = Number(/ 1 UDP \d+ \S+ (\d+) /.exec(probe.body)?.[1]);
  await using relay = await LossyRelay.open({ target: port, loss: 0.05, reordered: 0.02, replayed: 0.2 });
  await using lossy = await WebrtcPage.open(arena.browser, arena.weir.url);
  await lossy.relayBy(relay.port);
  await lossy.watch(arena.weir.webrtcUrl(broadcast.stream.playbackId));
  const figures = await lossy.until("20 s of pictures", ({ frames }) => frames > 600, 40_000);
  console.log("5 % loss:", figures);
  expect(Math.min(figures.nacks, relay.replays)).toBeGreaterThan(10);
  expect(figures.longestFreezeMs).toBeLessThanOrEqual(1000);
  // Other viewers are not affected.
  expect((await viewer.figures()).lost).toBe(0);
});

test("a viewer with a third of the source's bandwidth gets a rung of the ladder, slows no other viewer, and gets the source again when possible", async () => {
  const profiles = [{ name: "240p", width: 426, height: 240, bitrate: 300_000, fps: 0 }];
  await using broadcast = await startBroadcast(arena.weir, {
    ...{ width: 640, height: 360, bitrateBps: 1_500_000, seconds: 120, audio: true },
    stream: { profiles },
  });
  await broadcast.untilState("live");
  const url = arena.weir.webrtcUrl(broadcast.stream.playbackId);
  await using bystander = await WebrtcPage.open(arena.browser, arena.weir.url);
  const port = Number(/ 1 UDP \d+ \S+ (\d+) /.exec((await bystander.watch(url)).body)?.[1]);
  await using relay = await LossyRelay.open({ target: port, loss: 0, reordered: 0 });
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  await viewer.relayBy(relay.port);
  await viewer.watch(url);
  await viewer.until("the source", ({ width, frames }) => width === 640 && frames > 150);
  relay.bitsPerSecond = 500_000;
  const narrowedAt = Date.now();
  const lowered = await viewer.until("the rung", ({ width }) => width === 426, 30_000);
  const loweredMs = Date.now() - narrowedAt;
  const later = await viewer.until("pictures of the rung", ({ frames }) => frames > lowered.frames + 150);
  expect(later).toMatchObject({ width: 426 });
  expect(later.audioSamples).toBeGreaterThan(lowered.audioSamples);
  relay.bitsPerSecond = Number.POSITIVE_INFINITY;
  const widenedAt = Date.now();
  await viewer.until("the source again", ({ width }) => width === 640, 40_000);
  console.log(`the rung after ${loweredMs} ms, the source again after ${Date.now() - widenedAt} ms`);
  expect(await bystander.figures()).toMatchObject({ width: 640, lost: 0 });
});

test("killing the WebRTC process with ten viewers: a browser watches again within 5 s, and HLS is not affected", async () => {
  await using broadcast = await startBroadcast(arena.weir, { seconds: 90, stream: { profiles: [] } });
  await broadcast.untilState("live");
  const url = arena.weir.webrtcUrl(broadcast.stream.playbackId);
  const player = await arena.browser.playHls(broadcast.hlsUrl);
  await player.untilMoving();
  const many = startViewers(url, 9);
  await vi.waitUntil(() => many.report?.viewers === 9, { timeout: 30_000 });
  await using viewer = await WebrtcPage.open(arena.browser, arena.weir.url);
  await viewer.watchOn(url);
  await viewer.until("pictures", ({ frames }) => frames > 30);
  const killed = webrtcPid();
  process.kill(killed, "SIGKILL");
  const at = Date.now();
  await vi.waitUntil(async () => (await viewer.figures()).connections > 1, { timeout: 20_000, interval: 50 });
  await viewer.until("pictures again", ({ frames }) => frames > 0);
  const backMs = Date.now() - at;
  const { stalls, longestStallMs } = await player.state();
  console.log(`watched again after ${backMs} ms; HLS stalled ${stalls} times, ${longestStallMs} ms at most`);
  expect(webrtcPid()).not.toBe(killed);
  expect(backMs).toBeLessThanOrEqual(5000);
  expect(longestStallMs).toBeLessThan(500);
});
