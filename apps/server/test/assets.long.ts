import { openAsBlob, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { makeFile } from "../src/media/vod/media-file-rig.ts";
import { everyFrame } from "../src/media/vod/media-track-rig.ts";
import { openArena } from "./support/arena.ts";
import { AvFile } from "./support/av-file.ts";
import type { WeirProcess } from "./support/weir-process.ts";

const SECONDS = 20 * 60;
const RATE = 10;
const MEBIBYTE = 1024 * 1024;
/** Of the media children for the file. */
const MOST_MEMORY = 300 * MEBIBYTE;

const arena = openArena();

test("a video of 20 minutes plays early, is complete in the end, and takes no more memory than a short one", async () => {
  await using file = await makeFile({
    format: "mp4",
    video: {
      encoder: "libx264",
      width: 320,
      height: 192,
      times: everyFrame(RATE, SECONDS),
      options: { preset: "ultrafast" },
    },
    audio: { encoder: "aac", seconds: SECONDS },
  });
  const { weir } = arena;
  const began = performance.now();
  const { asset, url } = await weir.client.assets.requestUpload({
    name: "20 minutes",
    profiles: [{ name: "small", height: 128, bitrate: 150_000 }],
  });
  await fetch(url, { method: "PUT", body: await openAsBlob(file.path) });
  const uploaded = performance.now();
  let playableMs = 0;
  let mostMemory = 0;
  const status = async () => {
    mostMemory = Math.max(mostMemory, memoryOfChildren(weir));
    const { status: now } = await weir.client.assets.get(asset.id);
    if (now.isPlayable) playableMs ||= performance.now() - uploaded;
    return now.phase;
  };
  await expect.poll(status, { timeout: 540_000, interval: 200 }).toBe("ready");
  const readyMs = performance.now() - began;
  console.log(`plays after ${playableMs} ms, ready after ${readyMs} ms, ${mostMemory / MEBIBYTE} MiB in children`);
  expect(playableMs).toBeLessThan(10_000);
  expect(mostMemory).toBeGreaterThan(0);
  expect(mostMemory).toBeLessThan(MOST_MEMORY);
  const { videoSpec, playbackId } = await weir.client.assets.get(asset.id);
  expect(videoSpec?.duration).toBeCloseTo(SECONDS, 1);
  const { meta } = await weir.client.playback.get(playbackId);
  const hls = meta.source.find(({ type }) => type.includes("mpegurl"))?.url ?? expect.fail("no HLS");
  const widths: number[] = [];
  for (const rendition of (await fetch(hls).then((response) => response.text())).matchAll(/^[^#\n].*$/gm)) {
    await using made = await AvFile.open(new URL(rendition[0], hls).href);
    const decoded = await made.decode();
    expect(Object.values(decoded)).toEqual([RATE * SECONDS]);
    widths.push(...Object.keys(decoded).map(Number));
  }
  expect(widths.toSorted((a, b) => a - b)).toEqual([214, 320]);
}, 600_000);

test("audio of 23 hours makes the server's memory grow by less than 50 MiB", async () => {
  const minute = { encoder: "aac", seconds: 60, rate: 16_000, channels: 1, bitrate: 16_000 };
  await using file = await makeFile({ format: "adts", audio: minute });
  const bytes = await readFile(file.path);
  const { weir } = arena;
  let most = 0;
  const process = async (name: string, minutes: Uint8Array<ArrayBuffer>[], phase: "ready" | "failed") => {
    const { asset, url } = await weir.client.assets.requestUpload({ name });
    await fetch(url, { method: "PUT", body: new Blob(minutes) });
    const status = async () => {
      most = Math.max(most, memoryOf(weir.pid));
      return (await weir.client.assets.get(asset.id)).status.phase;
    };
    await expect.poll(status, { timeout: 540_000, interval: 200 }).toBe(phase);
    return asset;
  };
  // Node frees the buffers of an upload late: as many bytes that are no media show how much that is.
  const zeros = new Uint8Array(bytes.byteLength);
  await process("zeros", Array(23 * 60).fill(zeros), "failed");
  const before = most;
  const asset = await process("23 hours", Array(23 * 60).fill(bytes), "ready");
  console.log(`${(most - before) / MEBIBYTE} MiB more in the server for ${23 * 60 * bytes.byteLength} bytes`);
  expect((await weir.client.assets.get(asset.id)).videoSpec?.duration).toBeGreaterThan(23 * 3600);
  expect(most - before).toBeLessThan(50 * MEBIBYTE);
}, 600_000);

/** Of one process, in bytes; 0 if it has ended. Linux only. */
function memoryOf(pid: number | string): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** In bytes. Linux only. */
function memoryOfChildren({ pid }: WeirProcess): number {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return ""; // It has ended.
    }
  };
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).trim().split(" "),
  );
  return children
    .filter((child) => read(`/proc/${child}/cmdline`).includes("vod-child.ts"))
    .reduce((sum, child) => sum + memoryOf(child), 0);
}
