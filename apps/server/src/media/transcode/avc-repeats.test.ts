/** What `avcRepeats` makes, read by FFmpeg's decoder. */
import {
  annexBToLengthPrefixed,
  annexBUnits,
  avcConfig,
  avcRepeats,
  isIdrAccessUnit,
  lengthPrefixed,
  lengthPrefixedToAnnexB,
  withoutAvcMessages,
} from "@weir/formats/codecs";
import {
  AV_CODEC_ID_H264,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV422P,
  type AVPixelFormat,
  FF_ENCODER_LIBX264,
} from "node-av/constants";
import { Codec, CodecContext, Frame, Packet, Rational } from "node-av/lib";
import { expect, test } from "vitest";
import { check, openEncoder } from "./ffmpeg.ts";

const WIDTH = 208;
/** Not of whole macroblocks. */
const HEIGHT = 130;

interface Encoded {
  readonly config: Uint8Array;
  readonly keyframe: Uint8Array;
}

/** Noise, so that a wrong picture is never the same. */
async function encode(
  params: string,
  settings: Record<string, string> = {},
  { pixels = AV_PIX_FMT_YUV420P as AVPixelFormat, height = HEIGHT } = {},
): Promise<Encoded> {
  const encoder = await openEncoder(
    FF_ENCODER_LIBX264,
    { preset: "medium", ...settings, "x264-params": params },
    (context) => {
      context.width = WIDTH;
      context.height = height;
      context.pixelFormat = pixels;
      context.timeBase = new Rational(1, 30);
      context.framerate = new Rational(30, 1);
      context.gopSize = 10;
    },
  );
  const frame = new Frame();
  frame.alloc();
  frame.format = pixels;
  frame.width = WIDTH;
  frame.height = height;
  check(frame.getBuffer(), "no frame");
  let seed = 1;
  const packets: Uint8Array[] = [];
  const packet = new Packet();
  packet.alloc();
  const drain = () => {
    while (encoder.receivePacketSync(packet) >= 0) {
      packets.push(Uint8Array.from(packet.data ?? []));
      packet.unref();
    }
  };
  for (let nth = 0; nth < 12; nth++) {
    check(frame.makeWritable(), "no frame");
    for (const plane of frame.data ?? [])
      for (let at = 0; at < plane.length; at += 3) {
        seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
        plane[at] = seed >> 16;
      }
    frame.pts = BigInt(nth);
    check(encoder.sendFrameSync(frame), "no frame encoded");
    drain();
  }
  encoder.sendFrameSync(null);
  drain();
  const units = annexBUnits(encoder.extraData ?? packets[0] ?? new Uint8Array());
  const of = (type: number) => units.filter((unit) => ((unit[0] ?? 0) & 0x1f) === type);
  const config = avcConfig(of(7), of(8));
  encoder.freeContext();
  frame.free();
  const keyframes = packets
    .map((bytes) => annexBToLengthPrefixed(bytes))
    .filter((unit) => isIdrAccessUnit("avc", unit));
  return { config, keyframe: keyframes.at(-1) ?? new Uint8Array() };
}

/** The luma and chroma of every picture. */
async function decode(config: Uint8Array, units: readonly Uint8Array[]): Promise<string[]> {
  const codec = Codec.findDecoder(AV_CODEC_ID_H264);
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.extraData = Buffer.from(config);
  decoder.threadCount = 1;
  check(await decoder.open2(codec), "no decoder");
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  const pictures: string[] = [];
  const drain = async () => {
    while ((await decoder.receiveFrame(frame)) >= 0) {
      pictures.push((frame.data ?? []).map((plane) => plane.toString("latin1")).join());
      frame.unref();
    }
  };
  for (const [nth, data] of units.entries()) {
    packet.data = Buffer.from(data);
    packet.pts = BigInt(nth);
    packet.dts = BigInt(nth);
    check(await decoder.sendPacket(packet), "not decoded");
    packet.unref();
    await drain();
  }
  await decoder.sendPacket(null);
  await drain();
  decoder.freeContext();
  return pictures;
}

test.each([
  ["CABAC, weighted prediction, B-frames", "weightp=2:bframes=3:ref=4", {}],
  ["CAVLC, baseline", "cabac=0:bframes=0", { profile: "baseline" }],
  ["main, no deblocking", "bframes=2:no-deblock=1", { profile: "main" }],
  ["several slices", "slices=4:bframes=0", {}],
  ["a low quantiser and AUDs", "qp=3:aud=1:ref=1", {}],
  ["pictures that are shown in the order of decoding", "bframes=0:ref=2", {}],
] as const)("a keyframe of x264 is repeated to the bit: %s", async (_, params, settings) => {
  const { config, keyframe } = await encode(`keyint=10:scenecut=0:${params}`, settings);
  const repeats = avcRepeats(config, keyframe, 40) ?? [];
  expect(repeats).toHaveLength(40);
  expect(Math.max(...repeats.map(({ byteLength }) => byteLength))).toBeLessThan(60);
  const shown = withoutAvcMessages(keyframe);
  const pictures = await decode(config, [shown, ...repeats, shown, ...repeats]);
  expect(pictures).toHaveLength(82);
  expect(new Set(pictures).size).toBe(1);
});

test("SEI messages are not repeated, slices and parameter sets are", () => {
  const units = [6, 7, 8, 5, 6, 5].map((type) => Uint8Array.of(type | 0x60, type, type));
  const kept = annexBUnits(lengthPrefixedToAnnexB(withoutAvcMessages(lengthPrefixed(units))));
  expect(kept.map(([header = 0]) => header & 0x1f)).toEqual([7, 8, 5, 5]);
});

test("4:2:2 is repeated", async () => {
  const { config, keyframe } = await encode("keyint=10", {}, { pixels: AV_PIX_FMT_YUV422P });
  const pictures = await decode(config, [keyframe, ...(avcRepeats(config, keyframe, 5) ?? [])]);
  expect(pictures).toHaveLength(6);
  expect(new Set(pictures).size).toBe(1);
});

test("interlaced pictures, and what cannot be read, are not", async () => {
  const interlaced = await encode("keyint=10:interlaced=1", {}, { height: 144 });
  expect(avcRepeats(interlaced.config, interlaced.keyframe, 5)).toBeNull();
  const { config, keyframe } = await encode("keyint=10");
  expect(avcRepeats(config, keyframe.subarray(0, 5), 5)).toBeNull();
  expect(avcRepeats(config.subarray(0, 20), keyframe, 5)).toBeNull();
});

test("hostile data is repeated or not, and never throws", async () => {
  const { config, keyframe } = await encode("keyint=10");
  const start = keyframe.subarray(0, 2_000);
  for (let seed = 1; seed < 1_000; seed++) {
    const [one, other] = [Uint8Array.from(config), Uint8Array.from(start)];
    for (const bytes of [one, other]) bytes[(seed * 7_919) % bytes.length] = (seed * 31) & 0xff;
    avcRepeats(one, start, 1);
    avcRepeats(config, other, 1);
  }
});
