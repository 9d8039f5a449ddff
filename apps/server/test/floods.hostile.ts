import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { RtmpTestClient } from "../src/media/ingest/rtmp/rtmp-test-client.ts";
import { openArena } from "./support/arena.ts";
import { answered, ask, openSocket, openSockets, pipeline, strangerAddress } from "./support/attacker.ts";
import { startBroadcast } from "./support/broadcast.ts";
import { expectWholeRecording, experienceOf, measured, told } from "./support/bystander.ts";
import { childOf } from "./support/gated-broadcast.ts";
import { WeirProcess } from "./support/weir-process.ts";

const API_MEDIAN_MS = 50;
const STALL_MS = 4_000;
const FLOOD_MS = 20_000;
const arena = openArena();

const residentMegabytes = ({ pid }: WeirProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const openFiles = ({ pid }: WeirProcess): number => readdirSync(`/proc/${pid}/fd`).length;
const randomPlaybackId = (): string =>
  BigInt(`0x${randomBytes(10).toString("hex")}`)
    .toString(36)
    .padStart(16, "0")
    .slice(-16);

function close(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

test("60 connections that request invented playback ids: the API and publishers continue", async (context) => {
  const { weir } = arena;
  let asked = 0;
  let published = 0;
  const experience = await experienceOf(weir, async () => {
    const until = performance.now() + FLOOD_MS;
    const flood = async (n: number): Promise<void> => {
      const socket = await openSocket(weir.httpPort, strangerAddress(n % 4));
      while (socket && !socket.destroyed && performance.now() < until) {
        const id = randomPlaybackId();
        const paths = n % 2 === 0 ? [`/hls/${id}/index.m3u8`] : [`/api/playback/${id}`];
        const answer = answered(socket);
        await pipeline(socket, paths);
        await answer;
        asked++;
      }
      socket?.destroy();
    };
    const floods = Promise.all(Array.from({ length: 60 }, (_, n) => flood(n)));
    while (performance.now() < until - 2_000) {
      await using broadcast = await startBroadcast(weir, { seconds: 3 });
      await broadcast.publisher.stop();
      published++;
    }
    await floods;
  });
  measured(context, `${asked} questions, ${published} publishers began`, told(experience));
  expect(experience.apiMedianMs).toBeLessThan(API_MEDIAN_MS);
  expect(experience.apiFailures).toBe(0);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
  expect(published).toBeGreaterThan(0);
});

test("4,062 idle connections of one client at a limit of 4,096 files: HTTP responds and the recording continues", async (context) => {
  await using weir = await WeirProcess.start({ through: ["prlimit", "--nofile=4096:4096"] });
  const experience = await experienceOf(weir, async (broadcast) => {
    const sockets = await openSockets(weir.httpPort, 4_062);
    // Each has made a request, so it is a keep-alive connection, not a half-open one.
    for (const socket of sockets) if (!socket.destroyed) await pipeline(socket, ["/healthz"]);
    await wait(10_000);
    measured(context, `${sockets.filter(({ destroyed }) => !destroyed).length} stayed, ${openFiles(weir)} files open`);
    expect((await ask(weir.httpPort, "/healthz", { from: strangerAddress(9) })).status).toBe(200);
    await expectWholeRecording(broadcast);
    close(sockets);
  });
  measured(context, told(experience));
  expect(experience.apiFailures).toBe(0);
});

test("one connection that requests the next playlist 21,000 times blocks no other client", async (context) => {
  const { weir } = arena;
  await using broadcast = await startBroadcast(weir, { stream: { profiles: [] } });
  const playlist = new URL(await childOf(broadcast.hlsUrl));
  const next = async (from: string): Promise<{ waitedMs: number; status: number }> => {
    const { body } = await ask(weir.httpPort, playlist.pathname, { from });
    const msn = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(body)?.[1]) + body.split("#EXTINF").length - 1;
    const askedAt = performance.now();
    const { status } = await ask(weir.httpPort, `${playlist.pathname}?_HLS_msn=${msn + 1}`, { from });
    return { waitedMs: performance.now() - askedAt, status };
  };
  const before = residentMegabytes(weir);
  const { body } = await ask(weir.httpPort, playlist.pathname);
  const msn = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(body)?.[1]) + body.split("#EXTINF").length;
  const attacker = await openSocket(weir.httpPort);
  if (!attacker) return expect.fail("the server does not answer");
  void pipeline(
    attacker,
    Array.from({ length: 21_000 }, () => `${playlist.pathname}?_HLS_msn=${msn + 1}`),
  );
  await wait(300);
  const others = await Promise.all([1, 2, 3].map((n) => next(strangerAddress(n))));
  attacker.destroy();
  measured(
    context,
    `others waited ${others.map(({ waitedMs }) => Math.round(waitedMs)).join(", ")} ms`,
    `${Math.round(residentMegabytes(weir) - before)} MB more`,
  );
  // Requests with a slot wait for media that does not exist yet.
  for (const { waitedMs, status } of others) {
    expect(status).toBe(200);
    expect(waitedMs).toBeGreaterThan(200);
    expect(waitedMs).toBeLessThan(STALL_MS);
  }
});

test("one client that invents 100,000 viewers fills no count and no limit", async (context) => {
  await using weir = await WeirProcess.start({ env: { WEIR_VIEWER_LIMIT: "5000" } });
  await using broadcast = await startBroadcast(weir, { stream: { profiles: [] } });
  const path = new URL(broadcast.hlsUrl).pathname;
  const until = performance.now() + FLOOD_MS;
  let invented = 0;
  const flood = async (): Promise<void> => {
    const socket = await openSocket(weir.httpPort);
    while (socket && !socket.destroyed && performance.now() < until && invented < 100_000) {
      const paths = Array.from({ length: 50 }, () => `${path}?tkn=${randomBytes(12).toString("hex")}`);
      const answer = answered(socket);
      await pipeline(socket, paths);
      await answer;
      invented += paths.length;
    }
    socket?.destroy();
  };
  await Promise.all(Array.from({ length: 8 }, flood));
  const counted = async () =>
    (await weir.client.views.now({ playbackId: broadcast.stream.playbackId }))[0]?.viewCount ?? 0;
  await expect.poll(counted, { timeout: 15_000 }).toBeGreaterThan(0);
  // Counts are reported every 10 s.
  await wait(10_000);
  const now = await counted();
  measured(context, `${invented} invented, ${now} counted`);
  expect(now).toBeLessThan(5_000);
  expect((await ask(weir.httpPort, path, { from: strangerAddress(7) })).status).toBe(200);
});

test("wrong stream keys do not block a valid one", async (context) => {
  const { weir } = arena;
  const { streamKey } = await weir.client.streams.create({ name: "right", profiles: [] });
  for (let guess = 0; guess < 40; guess++) {
    const { client } = await RtmpTestClient.publish(weir.rtmpPort, `aaaa-bbbb-cccc-${guess}`, strangerAddress());
    client.socket.destroy();
  }
  const askedAt = performance.now();
  const { client, status } = await RtmpTestClient.publish(weir.rtmpPort, streamKey, strangerAddress());
  client.socket.destroy();
  measured(context, `accepted after ${Math.round(performance.now() - askedAt)} ms`);
  expect(status.code).toBe("NetStream.Publish.Start");
});

test("500 half-open connections on each port, with one header byte per second: others are served, and all are closed in time", async (context) => {
  const { weir } = arena;
  const files = openFiles(weir);
  const experience = await experienceOf(weir, async () => {
    const http = await openSockets(weir.httpPort, 500);
    const rtmp = await openSockets(weir.rtmpPort, 500, strangerAddress(1));
    for (let second = 0; second < 14; second++) {
      for (const socket of [...http.slice(250), ...rtmp.slice(250)]) if (socket.writable) socket.write("\x03");
      await wait(1_000);
    }
    const left = [...http, ...rtmp].filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded);
    measured(context, `${left.length} of ${http.length + rtmp.length} left after 14 s`);
    close([...http, ...rtmp]);
  });
  await expect.poll(() => openFiles(weir), { timeout: 20_000 }).toBeLessThan(files + 60);
  measured(context, told(experience));
  expect(experience.apiMedianMs).toBeLessThan(API_MEDIAN_MS);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});

test("RTMP headers without their messages, on every chunk stream of 200 connections: little memory, no stall", async (context) => {
  const { weir } = arena;
  const before = residentMegabytes(weir);
  const experience = await experienceOf(weir, async () => {
    const clients: RtmpTestClient[] = [];
    for (let n = 0; n < 200; n++) {
      const opened = await RtmpTestClient.open(weir.rtmpPort, strangerAddress(n % 8)).catch(() => null);
      if (!opened || opened.socket.destroyed) continue;
      opened.greet();
      // Type 0 headers on chunk streams 3 to 62: 64 KiB of an invoke each, and a byte of it.
      for (let id = 3; id < 63; id++) opened.send(Buffer.from([id, 0, 0, 0, 1, 0, 0, 20, 0, 0, 0, 0, 2]));
      clients.push(opened);
    }
    await wait(3_000);
    measured(context, `${clients.length} connected, ${Math.round(residentMegabytes(weir) - before)} MB more`);
    expect(residentMegabytes(weir) - before).toBeLessThan(100);
    for (const { socket } of clients) socket.destroy();
  });
  measured(context, told(experience));
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});

test("2,000 waiting requests of one client cost little, and others are answered on time", async (context) => {
  const { weir } = arena;
  const before = residentMegabytes(weir);
  const experience = await experienceOf(weir, async (broadcast) => {
    const path = new URL(await childOf(broadcast.hlsUrl)).pathname;
    const { body } = await ask(weir.httpPort, path);
    const msn = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(body)?.[1]) + body.split("#EXTINF").length;
    const sockets = await openSockets(weir.httpPort, 1_900);
    for (const socket of sockets) void pipeline(socket, [`${path}?_HLS_msn=${msn + 1}`]);
    await wait(6_000);
    close(sockets);
  });
  const grown = residentMegabytes(weir) - before;
  measured(context, `${Math.round(grown)} MB more`, told(experience));
  expect(grown).toBeLessThan(200);
  expect(experience.longestStallMs).toBeLessThan(STALL_MS);
});
