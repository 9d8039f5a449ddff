import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FormatContext, Packet } from "node-av/lib";
import { expect, test } from "vitest";
import { startPublisher } from "./publisher.ts";

test("a repeated clip has continuous timestamps, including B-frames and keyframes", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-publisher-"));
  try {
    const path = join(folder, "looped.flv");
    const publisher = await startPublisher({
      url: path,
      seconds: 6,
      gopSeconds: 1,
      bFrames: 2,
      audio: false,
      inRealTime: false,
    });
    expect(await publisher.ended).toBe(null);
    const packets = await readPackets(path);
    expect(packets.map(({ dts }) => dts)).toEqual(Array.from({ length: 180 }, (_, i) => i));
    // The muxer shifts decode times to start at zero, so presentation starts two frames later.
    const shown = packets.map(({ pts }) => pts).sort((a, b) => a - b);
    expect(shown).toEqual(Array.from({ length: 180 }, (_, i) => i + 2));
    expect(packets.filter(({ isKeyframe }) => isKeyframe).map(({ pts }) => pts)).toEqual([2, 32, 62, 92, 122, 152]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** Times in frames of 1/30 s. */
async function readPackets(path: string): Promise<{ dts: number; pts: number; isKeyframe: boolean }[]> {
  const format = new FormatContext();
  expect(await format.openInput(path)).toBe(0);
  const packets: { dts: number; pts: number; isKeyframe: boolean }[] = [];
  const packet = new Packet();
  packet.alloc();
  const inFrames = (ms: bigint): number => Math.round((Number(ms) * 30) / 1000);
  while ((await format.readFrame(packet)) >= 0) {
    packets.push({ dts: inFrames(packet.dts), pts: inFrames(packet.pts), isKeyframe: packet.isKeyframe });
    packet.unref();
  }
  packet.free();
  await format.closeInput();
  return packets;
}
