import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FormatContext, Packet } from "node-av/lib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { TestBroadcasts, TooManyTestBroadcasts } from "./index.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-test-broadcast-"));
});
afterAll(() => rm(folder, { recursive: true }));

const newBroadcasts = (): TestBroadcasts => new TestBroadcasts({ log: silentLog, clock: systemClock });

/** Times in seconds and keyframe marks of the packets of each stream of a file. */
async function readPackets(path: string): Promise<{ seconds: number; isKeyframe: boolean }[][]> {
  const format = new FormatContext();
  expect(await format.openInput(path)).toBe(0);
  await format.findStreamInfo();
  const tracks = format.streams.map(() => [] as { seconds: number; isKeyframe: boolean }[]);
  const packet = new Packet();
  packet.alloc();
  while ((await format.readFrame(packet)) >= 0) {
    tracks[packet.streamIndex]?.push({ seconds: Number(packet.pts) / 1000, isKeyframe: packet.isKeyframe });
    packet.unref();
  }
  packet.free();
  await format.closeInput();
  return tracks;
}

test("a broadcast of three seconds has every picture and tone frame of three seconds, in real time", async () => {
  const path = join(folder, "three.flv");
  const child = newBroadcasts().start({ url: path, seconds: 3 });
  await child.begun;
  const begunAt = systemClock.monotonic();
  expect(await child.ended).toEqual({ ok: true });
  expect(systemClock.monotonic() - begunAt).toBeGreaterThan(2500);
  const [picture = [], tone = []] = await readPackets(path);
  expect(picture.map(({ seconds }) => Math.round(seconds * 30))).toEqual(Array.from({ length: 90 }, (_, i) => i));
  expect(picture.flatMap(({ isKeyframe }, i) => (isKeyframe ? [i] : []))).toEqual([0, 60]);
  expect(tone.length).toBeGreaterThan(136);
  expect(tone.at(-1)?.seconds).toBeCloseTo(2.95, 1);
});

test("a server that refuses ends the broadcast with a reason that has no stream key in it", async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = newBroadcasts().start({ url: `rtmp://127.0.0.1:${port}/live/very-secret`, seconds: 5 });
  await expect(child.begun).rejects.toThrow(/cannot connect/);
  expect(await child.ended).toMatchObject({ ok: false, reason: expect.not.stringContaining("very-secret") });
  server.close();
});

test("a fifth broadcast is refused, and closing ends those that run", async () => {
  const broadcasts = newBroadcasts();
  const children = [1, 2, 3, 4].map((n) => broadcasts.start({ url: join(folder, `${n}.flv`), seconds: 60 }));
  expect(() => broadcasts.start({ url: join(folder, "5.flv"), seconds: 60 })).toThrow(TooManyTestBroadcasts);
  await broadcasts.close();
  for (const child of children) expect(() => process.kill(child.pid, 0)).toThrow("ESRCH");
});
