/** For tests: sources that are encoded here, and a transcode child at the end of two pipes. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { annexBToLengthPrefixed } from "@weir/formats/codecs";
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_PIX_FMT_YUV420P,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  type AVPixelFormat,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
} from "node-av/constants";
import { Codec, CodecContext, CodecParameters, Dictionary, FilterGraph, Frame, Packet, Rational } from "node-av/lib";
import { messageReader } from "../../platform/pipe-frames.ts";
import { TICKS_PER_SECOND } from "../packet.ts";
import { check } from "./ffmpeg.ts";
import {
  type FromChild,
  frameOf,
  type ToChild,
  type TranscodeRung,
  type TranscodeSource,
} from "./transcode-protocol.ts";

export type SourcePacket = Extract<ToChild, { type: "packet" }>;
export type RungPacket = Extract<FromChild, { type: "packet" }>;

export interface SourceOptions {
  readonly codec?: TranscodeSource["codec"];
  readonly width?: number;
  readonly height?: number;
  /** PTS of each frame, in ticks. */
  readonly times: readonly number[];
  /** Frames from one IDR to the next. */
  readonly gopFrames?: number;
  readonly bFrames?: number;
  /** Width to height of one sample. */
  readonly sampleAspect?: readonly [number, number];
  readonly pixelFormat?: { readonly name: string; readonly format: AVPixelFormat };
}

export interface Source {
  readonly video: TranscodeSource;
  /** In order of DTS. */
  readonly packets: readonly SourcePacket[];
}

/** Times of `frames` frames at a constant rate, rounded to ticks. */
export function timesOf(frames: number, rate: number): number[] {
  return Array.from({ length: frames }, (_, i) => Math.round((i * TICKS_PER_SECOND) / rate));
}

const ENCODERS = { avc: FF_ENCODER_LIBX264, hevc: FF_ENCODER_LIBX265, av1: FF_ENCODER_LIBSVTAV1 };

/** Encodes a moving picture. */
export async function makeSource(options: SourceOptions): Promise<Source> {
  const { codec = "avc", width = 320, height = 180, times, gopFrames = 60, bFrames = 0 } = options;
  const { name, format } = options.pixelFormat ?? { name: "yuv420p", format: AV_PIX_FMT_YUV420P };
  const graph = new FilterGraph();
  graph.alloc();
  check(graph.parse2(`testsrc2=size=${width}x${height}:rate=30,format=${name},buffersink@out`), "no test source");
  check(graph.configSync(), "no test source");
  const pictures = graph.getFilter("buffersink@out");
  const encoderCodec = Codec.findEncoderByName(ENCODERS[codec]);
  if (!pictures || !encoderCodec) throw new Error("no test source");

  const structure = `keyint=${gopFrames}:scenecut=0:open-gop=0:bframes=${bFrames}:b-adapt=0`;
  const settings: Record<string, string> = {
    avc: { preset: "ultrafast", "forced-idr": "1", "x264-params": structure },
    hevc: { preset: "ultrafast", "forced-idr": "1", "x265-params": `${structure}:log-level=none:pools=none` },
    av1: { preset: "12", "svtav1-params": `keyint=${gopFrames}:scd=0:lp=1` },
  }[codec];
  const encoder = new CodecContext();
  encoder.allocContext3(encoderCodec);
  encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  Object.assign(encoder, { width, height, pixelFormat: format, maxBFrames: bFrames, threadCount: 1 });
  encoder.timeBase = new Rational(1, TICKS_PER_SECOND);
  encoder.framerate = new Rational(30, 1);
  encoder.gopSize = gopFrames;
  if (options.sampleAspect) encoder.sampleAspectRatio = new Rational(...options.sampleAspect);
  encoder.bitRate = 300_000n;
  check(await encoder.open2(encoderCodec, Dictionary.fromObject(settings)), "no encoder");

  const frame = new Frame();
  frame.alloc();
  const packet = new Packet();
  packet.alloc();
  const packets: SourcePacket[] = [];
  const receive = async (): Promise<void> => {
    for (;;) {
      const result = await encoder.receivePacket(packet);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      check(result, "no packet");
      const data = Buffer.from(packet.data ?? []);
      packets.push({
        type: "packet",
        isIndependent: packet.isKeyframe,
        dts: Number(packet.dts),
        pts: Number(packet.pts),
        data: codec === "av1" ? data : annexBToLengthPrefixed(data),
      });
      packet.unref();
    }
  };
  for (const time of times) {
    check(pictures.buffersinkGetFrameSync(frame), "no picture");
    frame.pts = BigInt(time);
    frame.pictType = 0 as typeof frame.pictType;
    check(await encoder.sendFrame(frame), "no frame");
    frame.unref();
    await receive();
  }
  check(await encoder.sendFrame(null), "no end");
  await receive();
  const parameters = new CodecParameters();
  parameters.alloc();
  parameters.fromContext(encoder);
  const record = parameters.getDecoderConfigurationRecord() ?? Buffer.alloc(0);
  parameters.free();
  encoder.freeContext();
  graph.free();
  // For AV1 FFmpeg gives the sequence header alone: av1C has marker, profile, level and 4:2:0 before it.
  const config = codec === "av1" ? Buffer.concat([Buffer.of(0x81, 0, 0x0c, 0), record]) : record;
  return { video: { codec, config: config.toString("base64"), width, height }, packets };
}

export function rung(index: number, width: number, height: number, more: Partial<TranscodeRung> = {}): TranscodeRung {
  return {
    index,
    width,
    height,
    bitrateBps: 200_000,
    frameRate: null,
    profile: "main",
    quality: null,
    keyframeSeconds: null,
    level: "3.1",
    ...more,
  };
}

export interface ChildRig {
  readonly process: ChildProcess;
  /** All that it has said. */
  readonly said: readonly FromChild[];
  send(...messages: readonly ToChild[]): void;
  /** Resolves with the next message that fits, from the first not waited for yet. */
  next<Type extends FromChild["type"]>(type: Type): Promise<Extract<FromChild, { type: Type }>>;
  /** Flushes, and returns what the rungs have made so far. */
  flush(id: number): Promise<RungPacket[]>;
  /** Exit code, once it is gone. */
  readonly ended: Promise<number | null>;
  /** Closes its input pipe. */
  close(): Promise<number | null>;
}

export function startChild(): ChildRig {
  const child = spawn(process.execPath, [fileURLToPath(new URL("./transcode-child.ts", import.meta.url))], {
    env: { MALLOC_ARENA_MAX: "2" },
    stdio: ["ignore", "ignore", "inherit", "pipe", "pipe"],
  });
  const input = child.stdio[3] as Writable;
  const output = child.stdio[4] as Readable;
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const read = messageReader<FromChild>();
  const said: FromChild[] = [];
  let seen = 0;
  const changed = new EventTarget();
  input.on("error", () => {}); // its end is told by `ended`
  output.on("data", (bytes) => {
    said.push(...read(bytes));
    changed.dispatchEvent(new Event("said"));
  });
  const next = async <Type extends FromChild["type"]>(type: Type): Promise<Extract<FromChild, { type: Type }>> => {
    for (;;) {
      for (let message = said[seen]; message; message = said[seen]) {
        seen++;
        if (message.type === type) return message as Extract<FromChild, { type: Type }>;
        if (message.type === "error" && message.isFatal) throw new Error(message.message);
      }
      const isOver = await Promise.race([
        new Promise<false>((resolve) => changed.addEventListener("said", () => resolve(false), { once: true })),
        ended.then(() => said.length === seen),
      ]);
      if (isOver) throw new Error(`the child ended before it said "${type}"`);
    }
  };
  const send = (...messages: readonly ToChild[]): void => {
    for (const message of messages) input.write(frameOf(message));
  };
  return {
    process: child,
    said,
    send,
    next,
    flush: async (id) => {
      send({ type: "flush", id });
      while ((await next("flushed")).id !== id);
      return said.filter((message) => message.type === "packet");
    },
    ended,
    close: () => {
      input.end();
      return ended;
    },
  };
}
