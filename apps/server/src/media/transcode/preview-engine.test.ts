import { expect, test } from "vitest";
import { TICKS_PER_SECOND } from "../packet.ts";
import { PreviewEngine } from "./preview-engine.ts";
import { makeSource, type SourcePacket, timesOf } from "./transcode-child-rig.ts";
import type { FromChild } from "./transcode-protocol.ts";

const SHAPE = { maxWidth: 160, maxHeight: 160, frameRate: 10 } as const;
const second = (seconds: number) => seconds * TICKS_PER_SECOND;

/** The pictures of an animation: how long each is shown, in milliseconds. */
function readWebp(file: Uint8Array) {
  const bytes = Buffer.from(file);
  expect(bytes.toString("latin1", 0, 16)).toMatch(/^RIFF.{4}WEBPVP8X$/s);
  const [width, height] = [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  const durations: number[] = [];
  for (let at = 12; at < bytes.byteLength; ) {
    const size = bytes.readUInt32LE(at + 4);
    if (bytes.toString("latin1", at, at + 4) === "ANMF") durations.push(bytes.readUIntLE(at + 8 + 12, 3));
    at += 8 + size + (size % 2);
  }
  return { width, height, durations };
}

async function preview(video: Awaited<ReturnType<typeof makeSource>>["video"], packets: readonly SourcePacket[]) {
  const sent: FromChild[] = [];
  const start = { ...video, ...SHAPE, fromTicks: second(0.5), toTicks: second(1.5) };
  const engine = await PreviewEngine.open(start, (message) => sent.push(message));
  for (const packet of packets) await engine(packet);
  await engine({ type: "flush", id: 9 });
  const [answer] = sent;
  if (answer?.type !== "still" || answer.id !== 9) throw new Error("no answer");
  return answer.data;
}

test.each([
  ["without", 0],
  ["with", 2],
])("a stretch of video %s B-frames is an animation of so many pictures a second", async (_frames, bFrames) => {
  const { video, packets } = await makeSource({ times: timesOf(60, 30), width: 320, height: 180, bFrames });
  const { width, height, durations } = readWebp(await preview(video, packets));
  expect([width, height, durations.length]).toEqual([160, 90, 10]);
  expect(durations.slice(0, -1).every((milliseconds) => milliseconds >= 99 && milliseconds <= 101)).toBe(true);
});

test("damage costs the pictures up to the next keyframe, and bytes that are no pictures give nothing", async () => {
  const { video, packets } = await makeSource({ times: timesOf(60, 30), width: 320, height: 180, gopFrames: 30 });
  const damaged = packets.map((packet, nth) => (nth < 30 ? { ...packet, data: Buffer.alloc(64, 0xff) } : packet));
  expect(readWebp(await preview(video, damaged)).durations).toHaveLength(5);
  const noise = packets.map((packet) => ({ ...packet, data: Buffer.alloc(64, 0xff) }));
  expect((await preview(video, noise)).byteLength).toBe(0);
});
