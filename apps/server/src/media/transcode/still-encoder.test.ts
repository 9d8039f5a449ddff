import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { makeStill } from "./still-encoder.ts";
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

test("bytes that are no picture give none", async () => {
  const { video } = await makeSource({ times: timesOf(1, 30) });
  const noise = Buffer.concat(Array.from({ length: 64 }, (_, n) => createHash("sha512").update(`${n}`).digest()));
  const still = makeStill({ ...video, ...SHAPE, format: "jpeg" }, noise).catch(() => null);
  expect(await still).toBeNull();
});
