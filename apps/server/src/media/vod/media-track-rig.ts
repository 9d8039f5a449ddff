/** For tests: encoded tracks of drawn pictures and of a tone. */
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_FLAG_INTERLACED_DCT,
  AV_FRAME_FLAG_INTERLACED,
  AV_FRAME_FLAG_TOP_FIELD_FIRST,
  AV_PIX_FMT_YUV420P,
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
  Frame,
  Packet,
  Rational,
} from "node-av/lib";
import { check } from "../transcode/ffmpeg.ts";
import { drawPicture } from "./drawn-picture-rig.ts";

export interface MadeVideo {
  readonly encoder: string;
  readonly width?: number;
  readonly height?: number;
  readonly pixels?: string;
  /** Presentation times in seconds; 25 per second for 2 s by default. */
  readonly times?: readonly number[];
  readonly gopFrames?: number;
  /** Pixel aspect ratio, width to height. */
  readonly pixelShape?: readonly [number, number];
  readonly options?: Record<string, string>;
  readonly isInterlaced?: boolean;
  /** Clockwise rotation that a player applies, in degrees. */
  readonly turn?: 90 | 180 | 270;
  readonly timeBase?: readonly [number, number];
}

export interface MadeAudio {
  readonly encoder: string;
  readonly rate?: number;
  readonly channels?: number;
  readonly samples?: string;
  readonly seconds?: number;
  readonly bitrate?: number;
  /** Seconds by which the timestamps of the second half are late. */
  readonly gap?: number;
}

const SECONDS = 2;
export const RATE = 25;

export const everyFrame = (rate = RATE, seconds = SECONDS): number[] =>
  Array.from({ length: rate * seconds }, (_, n) => n / rate);

export async function openVideo(video: MadeVideo): Promise<CodecContext> {
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
  if (video.pixelShape) context.sampleAspectRatio = new Rational(...video.pixelShape);
  check(await context.open2(codec, Dictionary.fromObject(options)), `cannot open ${name}`);
  return context;
}

export async function* encodeVideo(encoder: CodecContext, video: MadeVideo): AsyncGenerator<Packet> {
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
    const drawn = Frame.fromVideoBuffer(drawPicture(width, height, n, video.isInterlaced ?? false), {
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

export async function openAudio({
  encoder: name,
  rate = 48_000,
  channels = 2,
  samples = "fltp",
  bitrate = 96_000,
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
  context.bitRate = BigInt(bitrate);
  check(await context.open2(codec, Dictionary.fromObject({ strict: "-2" })), `cannot open ${name}`);
  return context;
}

export async function* encodeAudio(
  encoder: CodecContext,
  { samples = "fltp", channels = 2, seconds = SECONDS, gap = 0 }: MadeAudio,
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
    frame.pts = BigInt(at < (seconds * sampleRate) / 2 ? at : at + gap * sampleRate);
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
