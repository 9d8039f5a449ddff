import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { openArena } from "./support/arena.ts";
import { ask, openSocket, pipeline, strangerAddress } from "./support/attacker.ts";
import { measured } from "./support/bystander.ts";
import { type LongRecording, recordLong } from "./support/long-recording.ts";
import type { WeirProcess } from "./support/weir-process.ts";

const HALF_A_DAY = 21_600;
/** For two cores, shared by the server, the attacker and the measuring clients. */
const WORST_MS = 2_000;
const arena = openArena();
let recorded: Promise<LongRecording> | null = null;

function halfADay(): Promise<LongRecording> {
  recorded ??= recordLong(arena.weir, HALF_A_DAY);
  return recorded;
}

const residentMegabytes = ({ pid }: WeirProcess): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
const openFiles = ({ pid }: WeirProcess): number => readdirSync(`/proc/${pid}/fd`).length;
const cpuMs = ({ pid }: WeirProcess): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return ((user ?? 0) + (system ?? 0)) * 10;
};

/** The delays of other clients during `attack`, and its peak cost. */
async function whileOthersAsk({ weir }: { weir: WeirProcess }, attack: () => Promise<void>) {
  const stop = new AbortController();
  const before = { megabytes: residentMegabytes(weir), files: openFiles(weir) };
  let [worstMs, megabytes, files] = [0, 0, 0];
  const asking = (async () => {
    while (!stop.signal.aborted) {
      const askedAt = performance.now();
      await ask(weir.httpPort, "/healthz", { from: strangerAddress(200) });
      worstMs = Math.max(worstMs, performance.now() - askedAt);
      megabytes = Math.max(megabytes, residentMegabytes(weir) - before.megabytes);
      files = Math.max(files, openFiles(weir) - before.files);
      await wait(5);
    }
  })();
  try {
    await attack();
  } finally {
    stop.abort();
    await asking;
  }
  return { worstMs, megabytes, files };
}

function told({ worstMs, megabytes, files }: Awaited<ReturnType<typeof whileOthersAsk>>): string {
  return `others waited ${Math.round(worstMs)} ms at most; ${Math.round(megabytes)} MB and ${files} files more`;
}

/** Resolves after that many responses, or when the connection has closed. */
function answers(socket: Socket, count: number): Promise<number> {
  const START = "HTTP/1.1 ";
  let found = 0;
  // One chunk may end within the start of a response.
  let rest = "";
  return new Promise((resolve) => {
    socket.on("data", (bytes: Buffer) => {
      const text = rest + bytes.toString("latin1");
      found += text.split(START).length - 1;
      rest = text.slice(Math.max(text.lastIndexOf(START) + 1, text.length - START.length + 1));
      if (found >= count) resolve(found);
    });
    socket.once("close", () => resolve(found));
  });
}

async function connected(n: number): Promise<Socket> {
  return (await openSocket(arena.weir.httpPort, strangerAddress(n))) ?? expect.fail("the server does not answer");
}

test("500 clients open the MP4 of twelve hours at once, uncached: others hardly wait", async (context) => {
  const { weir } = arena;
  const recording = await halfADay();
  const cost = await whileOthersAsk({ weir }, async () => {
    const range = { range: "bytes=0-99" };
    const found = await Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        ask(weir.httpPort, recording.mp4, { from: strangerAddress(n % 8), headers: range }),
      ),
    );
    expect(new Set(found.map(({ status }) => status))).toEqual(new Set([206]));
    // About 1 kB per segment, so this is the complete playlist.
    const sizes = found.map(({ headers }) => Number(String(headers["content-range"]).split("/")[1]));
    expect(Math.min(...sizes)).toBeGreaterThan(HALF_A_DAY * 1024);
  });
  measured(context, told(cost));
  expect(cost.worstMs).toBeLessThan(WORST_MS);
  expect(cost.megabytes).toBeLessThan(200);
});

test("300 requests for the playlist of twelve hours on one connection, read and unread: others hardly wait", async (context) => {
  const { weir } = arena;
  const recording = await halfADay();
  const paths = Array.from({ length: 300 }, () => recording.playlist);
  const { body } = await ask(weir.httpPort, recording.playlist, { from: strangerAddress(7) });
  expect(body.split("#EXTINF").length).toBeGreaterThan(HALF_A_DAY);
  const read = await whileOthersAsk({ weir }, async () => {
    const socket = await connected(1);
    const all = answers(socket, paths.length);
    const before = cpuMs(weir);
    await pipeline(socket, paths);
    expect(await all).toBe(paths.length);
    measured(context, `${((cpuMs(weir) - before) / paths.length).toFixed(1)} ms of CPU for each playlist`);
    socket.destroy();
  });
  const unread = await whileOthersAsk({ weir }, async () => {
    const socket = await connected(2);
    await pipeline(socket, paths);
    socket.pause();
    await wait(3_000);
    socket.destroy();
  });
  measured(context, `read: ${told(read)}`, `unread: ${told(unread)}`);
  for (const cost of [read, unread]) {
    expect(cost.worstMs).toBeLessThan(WORST_MS);
    expect(cost.megabytes).toBeLessThan(100);
  }
});

test("twelve connections that request a span 2,000 times each and read 2 kB/s: at most one open file each, and none after they have left", async (context) => {
  const { weir } = arena;
  const recording = await halfADay();
  const files = openFiles(weir);
  const cost = await whileOthersAsk({ weir }, async () => {
    const sockets = await Promise.all(Array.from({ length: 12 }, () => connected(3)));
    for (const socket of sockets) {
      // In packets that the server may read one by one.
      for (let packet = 0; packet < 4; packet++)
        void pipeline(
          socket,
          Array.from({ length: 500 }, () => recording.span),
        );
      socket.pause();
    }
    for (let tick = 0; tick < 40; tick++) {
      for (const socket of sockets) socket.read(200);
      await wait(100);
    }
    for (const socket of sockets) socket.destroy();
  });
  measured(context, told(cost));
  expect(cost.files).toBeLessThan(60);
  expect(cost.megabytes).toBeLessThan(100);
  expect(cost.worstMs).toBeLessThan(WORST_MS);
  await expect.poll(() => openFiles(weir), { timeout: 5_000 }).toBeLessThan(files + 8);
});

test("one client that downloads on 300 connections and hardly reads: it gets its share, and others can download", async (context) => {
  const { weir } = arena;
  const recording = await halfADay();
  const cost = await whileOthersAsk({ weir }, async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, () => connected(4)));
    for (const socket of sockets) {
      void pipeline(socket, [recording.mp4]);
      socket.pause();
    }
    await wait(2_000);
    const { status } = await ask(weir.httpPort, recording.span, {
      from: strangerAddress(5),
      headers: { range: "bytes=0-999" },
    });
    expect(status).toBe(206);
    expect((await ask(weir.httpPort, recording.span, { from: strangerAddress(4) })).status).toBe(503);
    for (const socket of sockets) socket.destroy();
  });
  measured(context, told(cost));
  // One connection each, and one file per occupied slot.
  expect(cost.files).toBeLessThan(300 + 200 + 50);
  expect(cost.megabytes).toBeLessThan(200);
});
