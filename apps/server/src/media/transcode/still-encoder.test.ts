import { createHash } from "node:crypto";
import { AV_CODEC_ID_MJPEG } from "node-av/constants";
import { Codec, CodecContext, Frame, Packet } from "node-av/lib";
import { expect, test } from "vitest";
import { blackPicture, planarBytes } from "./planar-picture.ts";
import { makeSheet, makeStill } from "./still-encoder.ts";
import { makeSource, timesOf } from "./transcode-child-rig.ts";

const SHAPE = { id: 1, maxWidth: 160, maxHeight: 160 } as const;

/** Width and height, as the file says them. */
function sizeOf(image: Uint8Array): [number, number] {
  const bytes = Buffer.from(image);
  if (bytes.toString("latin1", 1, 4) === "PNG") return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const frame = bytes.indexOf(Buffer.of(0xff, 0xc0));
  return [bytes.readUInt16BE(frame + 7), bytes.readUInt16BE(frame + 5)];
}

test.each(["avc", "hevc", "av1"] as const)("a keyframe of %s is an image that fits", async (codec) => {
  const { video, packets } = await makeSource({ codec, times: timesOf(1, 30), width: 320, height: 180 });
  const [keyframe] = packets;
  if (!keyframe) throw new Error("the encoder gave nothing");
  const still = (format: "jpeg" | "png") => makeStill({ ...video, ...SHAPE, format }, keyframe.data);
  const [jpeg, png] = [await still("jpeg"), await still("png")];
  expect(sizeOf(jpeg ?? new Uint8Array())).toEqual([160, 90]);
  expect(sizeOf(png ?? new Uint8Array())).toEqual([160, 90]);
  expect(png?.byteLength).toBeGreaterThan(500);
});

test("a picture that is smaller stays as large as it is, one with other pixels gets its shape", async () => {
  const { video, packets } = await makeSource({ times: timesOf(1, 30), width: 90, height: 120, sampleAspect: [4, 3] });
  const image = await makeStill({ ...video, ...SHAPE, format: "jpeg" }, packets[0]?.data ?? new Uint8Array());
  expect(sizeOf(image ?? new Uint8Array())).toEqual([120, 120]);
});

test("a tile is the picture with black around it, as large as it was asked for", async () => {
  const { video, packets } = await makeSource({ times: timesOf(1, 30), width: 320, height: 180 });
  const tile = await makeStill({ ...video, ...SHAPE, format: "tile" }, packets[0]?.data ?? new Uint8Array());
  const luma = (row: number) => tile?.subarray(row * SHAPE.maxWidth, (row + 1) * SHAPE.maxWidth) ?? [];
  expect(tile?.byteLength).toBe(planarBytes(SHAPE.maxWidth, SHAPE.maxHeight));
  expect([...luma(0), ...luma(33), ...luma(126), ...luma(159)].every((value) => value === 0)).toBe(true);
  expect(luma(80).some((value) => value > 100)).toBe(true);
});

test("tiles come into a sheet from left to right and from top to bottom", async () => {
  const size = { width: 32, height: 18 };
  const brightness = [30, 80, 130, 180, 230];
  const tiles = brightness.map((value) => {
    const { bytes } = blackPicture(size.width, size.height);
    return bytes.fill(value, 0, size.width * size.height);
  });
  const shape = { id: 1, columns: 3, tileWidth: size.width, tileHeight: size.height };
  const sheet = (await makeSheet(shape, Buffer.concat(tiles))) ?? new Uint8Array();
  expect(sizeOf(sheet)).toEqual([96, 36]);
  const luma = await lumaOf(sheet);
  const middles = [9, 27].flatMap((row) => [16, 48, 80].map((column) => luma[row * 96 + column] ?? 0));
  for (const [nth, value] of [...brightness, 0].entries()) expect(middles[nth]).toBeCloseTo(value, -1);
});

/** Of a JPEG. */
async function lumaOf(image: Uint8Array): Promise<Uint8Array> {
  const decoder = Codec.findDecoder(AV_CODEC_ID_MJPEG);
  using context = new CodecContext();
  context.allocContext3(decoder);
  await context.open2(decoder);
  using packet = new Packet();
  packet.alloc();
  packet.data = Buffer.from(image);
  await context.sendPacket(packet);
  using frame = new Frame();
  frame.alloc();
  await context.receiveFrame(frame);
  return frame.toBuffer();
}

test("bytes that are no picture give none", async () => {
  const { video } = await makeSource({ times: timesOf(1, 30) });
  const noise = Buffer.concat(Array.from({ length: 64 }, (_, n) => createHash("sha512").update(`${n}`).digest()));
  const still = makeStill({ ...video, ...SHAPE, format: "jpeg" }, noise).catch(() => null);
  expect(await still).toBeNull();
});
