/** For tests: files of every kind that are made here, and what comes of them. */
import { openSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_INTERLACED_DCT,
  AV_FRAME_FLAG_INTERLACED,
  AV_FRAME_FLAG_TOP_FIELD_FIRST,
  AV_NOPTS_VALUE,
  AV_PIX_FMT_YUV420P,
  AV_PKT_DATA_DISPLAYMATRIX,
  AVMEDIA_TYPE_VIDEO,
  type AVSampleFormat,
  type FFEncoderCodec,
} from "node-av/constants";
import {
  avChannelLayoutDefault,
  avGetPixFmtFromName,
  avGetSampleFmtFromName,
  Codec,
  CodecContext,
  Dictionary,
  type FilterContext,
  FilterGraph,
  FormatContext,
  Frame,
  Packet,
  Rational,
  type Stream,
} from "node-av/lib";
import { makeTestFolder } from "../../platform/test-folder.ts";
import { check } from "../transcode/generated-track.ts";
import { planAsset } from "./asset-ladder.ts";
import { encodeChunk } from "./chunk-encoder.ts";
import { planChunks } from "./chunk-plan.ts";
import { scanFile } from "./file-scan.ts";
import { CannotCopy } from "./refusal.ts";
import type { MadeSpan, ScannedFile, VodMessage } from "./vod-protocol.ts";

export interface MadeVideo {
  readonly encoder: string;
  readonly width?: number;
  readonly height?: number;
  readonly pixels?: string;
  /** Seconds at which the pictures are shown; 25 a second for 2 s if unset. */
  readonly times?: readonly number[];
  readonly gopFrames?: number;
  readonly options?: Record<string, string>;
  readonly isInterlaced?: boolean;
  /** Degrees clockwise that a player turns the pictures. */
  readonly turn?: 90 | 180 | 270;
  readonly timeBase?: readonly [number, number];
}

export interface MadeAudio {
  readonly encoder: string;
  readonly rate?: number;
  readonly channels?: number;
  readonly samples?: string;
  readonly seconds?: number;
}

export interface FileOptions {
  /** FFmpeg's name of the writer. */
  readonly format: string;
  readonly video?: MadeVideo;
  readonly audio?: MadeAudio;
  /** Empty tracks beside it. */
  readonly emptyTracks?: number;
  readonly muxer?: Record<string, string>;
}

const SECONDS = 2;
const RATE = 25;
/** Four flat quarters that differ, and a block in the middle that tells the number of the picture. */
const QUARTERS = [40, 90, 140, 190] as const;
export const [TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT] = QUARTERS;
const FIRST_SHADE = 20;
const SHADE_STEP = 4;
const SHADES = 50;

export const everyFrame = (rate = RATE, seconds = SECONDS): number[] =>
  Array.from({ length: rate * seconds }, (_, n) => n / rate);

/** A file in a folder of its own. */
export async function makeFile(options: FileOptions): Promise<{ path: string } & AsyncDisposable> {
  const folder = makeTestFolder("vod");
  const path = join(folder, "file");
  const remove = () => rm(folder, { recursive: true, force: true });
  await writeMedia(path, options);
  return { path, [Symbol.asyncDispose]: remove };
}

export async function fileOf(bytes: string | Uint8Array): Promise<{ path: string } & AsyncDisposable> {
  const folder = makeTestFolder("vod");
  const path = join(folder, "file");
  await writeFile(path, bytes);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function writeMedia(
  path: string,
  { format: name, video, audio, emptyTracks = 0, muxer = {} }: FileOptions,
): Promise<void> {
  const format = new FormatContext();
  check(format.allocOutputContext2(null, name, path), "no muxer");
  const tracks: { encoder: CodecContext; stream: Stream; packets: () => AsyncGenerator<Packet> }[] = [];
  if (video) {
    const encoder = await openVideo(video);
    const stream = addStream(format, encoder);
    if (video.turn) stream.codecpar.addCodedSideData(AV_PKT_DATA_DISPLAYMATRIX, displayMatrix(video.turn));
    tracks.push({ encoder, stream, packets: () => encodeVideo(encoder, video) });
  }
  if (audio) {
    const encoder = await openAudio(audio);
    tracks.push({ encoder, stream: addStream(format, encoder), packets: () => encodeAudio(encoder, audio) });
    for (let n = 0; n < emptyTracks; n++) addStream(format, encoder);
  }
  check(await format.openOutput(), "cannot write a file");
  check(await format.writeHeader(Dictionary.fromObject(muxer)), "cannot begin a file");
  const all: { packet: Packet; seconds: number }[] = [];
  for (const { encoder, stream, packets } of tracks) {
    for await (const packet of packets()) {
      if (encoder.codecType === AVMEDIA_TYPE_VIDEO)
        packet.duration = BigInt(Math.round(encoder.timeBase.den / (encoder.timeBase.num * RATE)));
      packet.rescaleTs(encoder.timeBase, stream.timeBase);
      packet.streamIndex = stream.index;
      const seconds = (Number(packet.dts) * stream.timeBase.num) / stream.timeBase.den;
      all.push({ packet, seconds });
    }
  }
  for (const { packet } of all.toSorted((a, b) => a.seconds - b.seconds)) {
    check(await format.writeFrame(packet), "cannot write a packet");
    packet.free();
  }
  check(await format.writeTrailer(), "cannot end a file");
  await format.closeOutput();
  for (const { encoder } of tracks) encoder.freeContext();
  format.freeContext();
}

function addStream(format: FormatContext, encoder: CodecContext): Stream {
  const stream = format.newStream();
  check(stream.codecpar.fromContext(encoder), "cannot describe a track");
  stream.timeBase = encoder.timeBase;
  return stream;
}

async function openVideo(video: MadeVideo): Promise<CodecContext> {
  const { encoder: name, width = 160, height = 96, pixels = "yuv420p", gopFrames = 25, options = {} } = video;
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  if (!codec) throw new Error(`no encoder ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  if (video.isInterlaced) context.setFlags(AV_CODEC_FLAG_INTERLACED_DCT);
  const [num, den] = video.timeBase ?? [1, 1000];
  Object.assign(context, {
    width,
    height,
    pixelFormat: avGetPixFmtFromName(pixels),
    gopSize: gopFrames,
    threadCount: 1,
  });
  context.timeBase = new Rational(num, den);
  context.framerate = new Rational(RATE, 1);
  context.bitRate = 600_000n;
  check(await context.open2(codec, Dictionary.fromObject(options)), `cannot open ${name}`);
  return context;
}

async function* encodeVideo(encoder: CodecContext, video: MadeVideo): AsyncGenerator<Packet> {
  const { times = everyFrame(), pixels = "yuv420p" } = video;
  const { width, height } = encoder;
  const graph = new FilterGraph();
  graph.alloc();
  const size = `video_size=${width}x${height}:pix_fmt=yuv420p:time_base=1/1000:pixel_aspect=1/1`;
  check(graph.parse2(`buffer@in=${size},format=${pixels},buffersink@out`), "no graph");
  check(graph.configSync(), "no graph");
  const [source, sink] = [graph.getFilter("buffer@in"), graph.getFilter("buffersink@out")] as [
    FilterContext,
    FilterContext,
  ];
  const frame = new Frame();
  frame.alloc();
  for (const [n, time] of times.entries()) {
    const drawn = Frame.fromVideoBuffer(drawing(width, height, n, video.isInterlaced ?? false), {
      ...{
        width,
        height,
        format: AV_PIX_FMT_YUV420P,
        pts: BigInt(Math.round(time * 1000)),
        timeBase: new Rational(1, 1000),
      },
    });
    check(source.buffersrcAddFrameSync(drawn), "no picture");
    drawn.free();
    check(sink.buffersinkGetFrameSync(frame), "no picture");
    frame.pts = BigInt(Math.round((time * encoder.timeBase.den) / encoder.timeBase.num));
    if (video.isInterlaced) frame.setFlags(AV_FRAME_FLAG_INTERLACED, AV_FRAME_FLAG_TOP_FIELD_FIRST);
    check(await encoder.sendFrame(frame), "no picture");
    frame.unref();
    yield* receive(encoder);
  }
  check(await encoder.sendFrame(null), "no end");
  yield* receive(encoder);
  graph.free();
}

/** Quarters, and the block that tells `n`. Of interlaced pictures the second field is bright where the first is dark. */
function drawing(width: number, height: number, n: number, isInterlaced: boolean): Buffer {
  const [half, halfUp] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const picture = Buffer.alloc(width * height + 2 * half * halfUp, 128);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const quarter = QUARTERS[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)] ?? 0;
      const isMiddle = Math.abs(x - width / 2) < width / 8 && Math.abs(y - height / 2) < height / 8;
      const shade = FIRST_SHADE + (n % SHADES) * SHADE_STEP;
      picture[y * width + x] = isMiddle ? shade : isInterlaced && x < width / 2 ? (y % 2 === 0 ? 40 : 200) : quarter;
    }
  }
  return picture;
}

async function openAudio({
  encoder: name,
  rate = 48_000,
  channels = 2,
  samples = "fltp",
}: MadeAudio): Promise<CodecContext> {
  const codec = Codec.findEncoderByName(name as FFEncoderCodec);
  if (!codec) throw new Error(`no encoder ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  context.sampleRate = rate;
  context.sampleFormat = avGetSampleFmtFromName(samples) as AVSampleFormat;
  context.channelLayout = avChannelLayoutDefault(channels);
  context.timeBase = new Rational(1, rate);
  context.bitRate = 96_000n;
  check(await context.open2(codec, Dictionary.fromObject({ strict: "-2" })), `cannot open ${name}`);
  return context;
}

async function* encodeAudio(
  encoder: CodecContext,
  { samples = "fltp", channels = 2, seconds = SECONDS }: MadeAudio,
): AsyncGenerator<Packet> {
  const graph = new FilterGraph();
  graph.alloc();
  const { sampleRate } = encoder;
  const size = encoder.frameSize || 1024;
  const layout = ["mono", "stereo", "", "", "", "5.1"][channels - 1] ?? "stereo";
  const tone = `sine=frequency=440:sample_rate=${sampleRate}:duration=${seconds}`;
  check(
    graph.parse2(
      `${tone},aformat=sample_fmts=${samples}:channel_layouts=${layout},asetnsamples=n=${size},abuffersink@out`,
    ),
    "no tone",
  );
  check(graph.configSync(), "no tone");
  const sink = graph.getFilter("abuffersink@out") as FilterContext;
  const frame = new Frame();
  frame.alloc();
  for (let at = 0; sink.buffersinkGetFrameSync(frame) >= 0; at += size) {
    frame.pts = BigInt(at);
    check(await encoder.sendFrame(frame), "no sound");
    frame.unref();
    yield* receive(encoder);
  }
  check(await encoder.sendFrame(null), "no end");
  yield* receive(encoder);
  graph.free();
}

async function* receive(encoder: CodecContext): AsyncGenerator<Packet> {
  for (;;) {
    const packet = new Packet();
    packet.alloc();
    if ((await encoder.receivePacket(packet)) < 0) return packet.free();
    yield packet;
  }
}

/** Of ISO/IEC 14496-12 6.2.2, in the machine's byte order. */
function displayMatrix(turn: 90 | 180 | 270): Buffer {
  const [a, b, c, d] = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] }[turn] as [
    number,
    number,
    number,
    number,
  ];
  const matrix = Buffer.alloc(36);
  for (const [n, value] of [a, b, 0, c, d, 0, 0, 0, 16_384].entries()) matrix.writeInt32LE(value * 65_536, n * 4);
  return matrix;
}

/** The renditions of a file, each as one fragmented MP4. */
export interface Processed {
  readonly file: ScannedFile;
  readonly isCopied: boolean;
  readonly spans: readonly MadeSpan[];
  readonly renditions: ReadonlyMap<string, Buffer>;
}

/** Scan and encode in this process: starting children takes longer than tiny files do. */
export async function processHere(path: string): Promise<Processed> {
  const job = { type: "scan", epoch: 1, segmentSeconds: 1, mayCopyVideo: true } as const;
  const copied = collect();
  const scanned = await scanFile(twice(path), job, copied.send).catch((error: unknown) => {
    if (error instanceof CannotCopy) return null;
    throw error;
  });
  const anew = scanned ? copied : collect();
  const file = scanned ?? (await scanFile(twice(path), { ...job, mayCopyVideo: false }, anew.send));
  const { picture } = file;
  const rungs = picture ? planAsset(picture, [{ name: "small", height: 128, bitrate: 200_000 }]) : [];
  for (const chunk of picture ? planChunks(picture, 1) : []) {
    if (!picture) break;
    await encodeChunk(
      twice(path),
      { type: "encode", epoch: 1, picture, rungs, preset: "ultrafast", ...chunk },
      anew.send,
    );
  }
  const renditions = new Map([...anew.files].map(([name, pieces]) => [name, Buffer.concat(pieces)]));
  return { file, isCopied: picture?.isCopied ?? false, spans: anew.spans, renditions };
}

/** Two places in the same file. They are closed with the process. */
function twice(path: string): readonly [number, number] {
  return [openSync(path, "r"), openSync(path, "r")];
}

function collect() {
  const files = new Map<string, Uint8Array[]>();
  const spans: MadeSpan[] = [];
  return {
    files,
    spans,
    send: (message: VodMessage, bytes: readonly Uint8Array[] = []) => {
      if (message.type === "span") spans.push(message);
      if (message.type !== "span" && message.type !== "init") return;
      // Of each chunk the init segment is the same.
      const known = files.get(message.rendition);
      if (message.type === "init" && known) return;
      files.set(message.rendition, [...(known ?? []), ...bytes.map((piece) => Uint8Array.from(piece))]);
    },
  };
}

export interface DecodedPicture {
  readonly seconds: number;
  readonly width: number;
  readonly height: number;
  /** Mean brightness of the corners and the middle. */
  readonly corners: readonly [number, number, number, number];
  /** The number of the drawn picture. */
  readonly number: number;
  /** How much neighbouring lines differ on the left. */
  readonly combing: number;
}

/** Decode the pictures of an MP4, of 8 bits and 4:2:0. */
export async function decodePictures(bytes: Uint8Array): Promise<DecodedPicture[]> {
  const pictures: DecodedPicture[] = [];
  await decode(bytes, (frame, seconds) => {
    const { width, height, linesize, data } = frame;
    const [luma, stride] = [data?.[0] ?? Buffer.alloc(0), linesize[0] ?? 0];
    const mean = (x: number, y: number): number => {
      let sum = 0;
      for (let dy = 0; dy < 8; dy++) for (let dx = 0; dx < 8; dx++) sum += luma[(y + dy) * stride + x + dx] ?? 0;
      return Math.round(sum / 64);
    };
    const combing = Math.abs((luma[4 * stride + 8] ?? 0) - (luma[5 * stride + 8] ?? 0));
    const corners = [mean(4, 4), mean(width - 12, 4), mean(4, height - 12), mean(width - 12, height - 12)] as const;
    const number = Math.round((mean(width / 2 - 4, height / 2 - 4) - FIRST_SHADE) / SHADE_STEP);
    pictures.push({ seconds, width, height, corners, number, combing });
  });
  return pictures;
}

/** Seconds of sound, its channels, and its loudness (mean of squares) where it begins and ends. */
export async function decodeSound(
  bytes: Uint8Array,
): Promise<{ seconds: number; channels: number; rate: number; loudness: number }> {
  let [samples, channels, rate, squares] = [0, 0, 0, 0];
  await decode(bytes, (frame) => {
    samples += frame.nbSamples;
    channels = frame.channels;
    rate = frame.sampleRate;
    const plane = frame.data?.[0];
    for (let n = 0; plane && n < frame.nbSamples; n++) squares += plane.readFloatLE(n * 4) ** 2;
  });
  return { seconds: samples / Math.max(1, rate), channels, rate, loudness: Math.sqrt(squares / Math.max(1, samples)) };
}

async function decode(bytes: Uint8Array, onFrame: (frame: Frame, seconds: number) => void): Promise<void> {
  await using file = await fileOf(bytes);
  const format = new FormatContext();
  check(await format.openInput(file.path), "cannot open what was made");
  check(await format.findStreamInfo(null), "cannot read what was made");
  const [stream] = format.streams;
  if (!stream) throw new Error("no track");
  const codec = Codec.findDecoder(stream.codecpar.codecId);
  const context = new CodecContext();
  context.allocContext3(codec);
  check(stream.codecpar.toContext(context), "cannot decode");
  context.pktTimebase = stream.timeBase;
  check(await context.open2(codec), "cannot decode");
  const [packet, frame] = [new Packet(), new Frame()];
  packet.alloc();
  frame.alloc();
  const take = async (next: Packet | null): Promise<void> => {
    check(await context.sendPacket(next), "what was made is damaged");
    while ((await context.receiveFrame(frame)) >= 0) {
      const { pts, bestEffortTimestamp } = frame;
      const time = pts === AV_NOPTS_VALUE ? bestEffortTimestamp : pts;
      onFrame(frame, (Number(time) * stream.timeBase.num) / stream.timeBase.den);
      frame.unref();
    }
  };
  while ((await format.readFrame(packet)) >= 0) {
    if (packet.streamIndex === stream.index) await take(packet);
    packet.unref();
  }
  await take(null);
  context.freeContext();
  await format.closeInput();
}
