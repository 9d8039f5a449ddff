import { avcHost, avcRepeats, avcTransplant } from "@weir/formats/codecs";
import {
  AV_PIX_FMT_RGB24,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV422P,
  AV_PIX_FMT_YUVJ420P,
  AVCOL_RANGE_JPEG,
  type AVPixelFormat,
  FF_ENCODER_LIBX264,
  FF_ENCODER_MJPEG,
  FF_ENCODER_PNG,
} from "node-av/constants";
import { Frame, Packet, Rational } from "node-av/lib";
import { beforeAll, expect, test } from "vitest";
import { check, decoderConfig, openEncoder } from "./ffmpeg.ts";
import { LiveDecoder } from "./live-decoder.ts";
import { makeSlate } from "./slate-encoder.ts";

/** Four quarters of different brightness, and stripes, which a wrong decode destroys. */
function pictureOf(
  width: number,
  height: number,
  format: AVPixelFormat,
  value: (x: number, y: number) => number,
): Frame {
  const frame = new Frame();
  frame.alloc();
  Object.assign(frame, { width, height, format });
  check(frame.getBuffer(), "no frame");
  const size = frame.toBuffer().length;
  const bytes = Buffer.alloc(size, 128);
  const channels = format === AV_PIX_FMT_RGB24 ? 3 : 1;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < channels; c++) bytes[(y * width + x) * channels + c] = value(x, y);
  check(frame.fromBuffer(bytes), "no frame");
  frame.pts = 0n;
  return frame;
}

const quarters = (width: number, height: number) => (x: number, y: number) =>
  40 + (x < width / 2 ? 0 : 90) + (y < height / 2 ? 0 : 60) + (Math.floor(x / 10) % 2) * 20;

async function imageOf(kind: "png" | "jpeg", width: number, height: number): Promise<Uint8Array> {
  const pixels = kind === "png" ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_YUVJ420P;
  using context = await openEncoder(kind === "png" ? FF_ENCODER_PNG : FF_ENCODER_MJPEG, { strict: "-1" }, (made) => {
    Object.assign(made, { width, height, pixelFormat: pixels, colorRange: AVCOL_RANGE_JPEG });
    made.timeBase = new Rational(1, 1);
  });
  using frame = pictureOf(width, height, pixels, quarters(width, height));
  frame.colorRange = AVCOL_RANGE_JPEG;
  check(await context.sendFrame(frame), "no image");
  await context.sendFrame(null);
  using packet = new Packet();
  packet.alloc();
  check(await context.receivePacket(packet), "no image");
  return Uint8Array.from(packet.data ?? []);
}

interface Source {
  readonly params: string;
  readonly options?: Record<string, string>;
  readonly width?: number;
  readonly height?: number;
  readonly pixels?: AVPixelFormat;
}

async function configOf({ params, options = {}, width = 320, height = 180, pixels = AV_PIX_FMT_YUV420P }: Source) {
  using context = await openEncoder(FF_ENCODER_LIBX264, { ...options, "x264-params": params }, (made) => {
    Object.assign(made, { width, height, pixelFormat: pixels });
    made.timeBase = new Rational(1, 30);
    made.framerate = new Rational(30, 1);
  });
  return decoderConfig(context);
}

/** Luma of each picture that a decoder of this configuration shows. */
async function shown(config: Uint8Array, units: readonly Uint8Array[]): Promise<Buffer[]> {
  const decoder = await LiveDecoder.open({ codec: "avc", config: Buffer.from(config).toString("base64") });
  const pictures: Buffer[] = [];
  const onFrame = async (frame: Frame) =>
    void pictures.push(Buffer.from(frame.toBuffer().subarray(0, frame.width * frame.height)));
  for (const [nth, data] of units.entries()) await decoder.decode(data, nth * 3_000, nth * 3_000, nth === 0, onFrame);
  await decoder.restart(onFrame);
  decoder.free();
  return pictures;
}

let png: Uint8Array;
beforeAll(async () => {
  png = await imageOf("png", 640, 360);
});

test.each([
  ["High with transforms of 8x8, CABAC, B-frames", { params: "8x8dct=1:bframes=3:weightp=2:ref=4" }],
  ["Baseline, CAVLC", { params: "bframes=0", options: { profile: "baseline" } }],
  ["Main, without deblocking", { params: "no-deblock=1", options: { profile: "main" } }],
  ["psychovisual offsets of chroma", { params: "psy-rd=1,1:chroma-qp-offset=-3" }],
  ["several slices and AUDs", { params: "slices=4:aud=1:nal-hrd=cbr:vbv-maxrate=500:vbv-bufsize=500:bitrate=500" }],
  ["pictures in the order of decoding", { params: "bframes=0:ref=1:qp=40" }],
  ["a height that is not of whole macroblocks", { params: "", width: 1920, height: 1080 }],
  ["a low quantiser in its parameter sets", { params: "qp=3:cabac=0" }],
] as readonly [string, Source][])("an image is a keyframe of a source's own parameter sets: %s", async (_, source) => {
  const config = await configOf(source);
  const { width = 320, height = 180 } = source;
  const keyframe = (await makeSlate(config, png)) ?? new Uint8Array();
  expect(keyframe.byteLength * 8).toBeLessThan(width * height);
  const repeats = avcRepeats(config, keyframe, 20) ?? [];
  expect(repeats).toHaveLength(20);
  const pictures = await shown(config, [keyframe, ...repeats]);
  expect(pictures).toHaveLength(21);
  expect(new Set(pictures.map((picture) => picture.toString("latin1"))).size).toBe(1);
  const at = (x: number, y: number) => pictures[0]?.[Math.floor(y * height) * width + Math.floor(x * width) + 2] ?? 0;
  const [a, b, c, d] = [at(0.2, 0.2), at(0.8, 0.2), at(0.2, 0.8), at(0.8, 0.8)];
  expect([b - a > 50, c - a > 30, d - b > 30]).toEqual([true, true, true]);
});

test("an image of another shape lies in the middle of black, and a JPEG is an image as well", async () => {
  const config = await configOf({ params: "" });
  const keyframe = (await makeSlate(config, await imageOf("jpeg", 200, 200))) ?? new Uint8Array();
  const [picture = Buffer.alloc(0)] = await shown(config, [keyframe]);
  const row = [...picture.subarray(90 * 320, 91 * 320)];
  expect(Math.max(...row.slice(0, 60), ...row.slice(-60))).toBeLessThan(24);
  expect(Math.min(...row.slice(90, 230))).toBeGreaterThan(30);
});

test.each([
  ["interlaced", { params: "interlaced=1", height: 192 }],
  ["4:2:2", { params: "", pixels: AV_PIX_FMT_YUV422P }],
  ["scaling lists", { params: "cqm=jvt" }],
] as readonly [string, Source][])("%s pictures take no image of another encoder", async (_, source) => {
  expect(await makeSlate(await configOf(source), png)).toBeNull();
});

test("hostile parameter sets and slices take an image or not, and never throw", async () => {
  const config = await configOf({ params: "" });
  const guest = await configOf({ params: "8x8dct=0:cabac=1" });
  const keyframe = (await makeSlate(config, png)) ?? new Uint8Array();
  for (let seed = 1; seed < 1_000; seed++) {
    const [one, other, start] = [config, guest, keyframe.subarray(0, 400)].map((bytes) => Uint8Array.from(bytes));
    for (const bytes of [one, other, start]) if (bytes) bytes[(seed * 7_919) % bytes.length] = (seed * 31) & 0xff;
    if (!one || !other || !start) continue;
    avcHost(one);
    avcTransplant({ config: guest, keyframe: start }, one);
    avcTransplant({ config: other, keyframe }, config);
  }
});

test("what is no image, or too large, is refused before it takes memory", async () => {
  const config = await configOf({ params: "" });
  await expect(makeSlate(config, Buffer.from("<svg/>"))).rejects.toThrow("cannot");
  await expect(makeSlate(config, png.subarray(0, 40))).rejects.toThrow("cannot");
  const huge = Buffer.from(png);
  huge.writeUInt32BE(60_000, 16);
  huge.writeUInt32BE(60_000, 20);
  await expect(makeSlate(config, huge)).rejects.toThrow("cannot");
});
