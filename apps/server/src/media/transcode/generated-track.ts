import {
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUV444P10LE,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBSVTAV1,
  FF_ENCODER_LIBX264,
  FF_ENCODER_LIBX265,
  type FFEncoderCodec,
} from "node-av/constants";
import { type CodecContext, type FilterContext, FilterGraph, Frame, Packet, Rational } from "node-av/lib";
import { check, openAudioEncoder, openEncoder } from "./ffmpeg.ts";

export interface PictureOptions {
  readonly codec: "avc" | "hevc" | "av1";
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly gopSeconds: number;
  readonly bFrames: number;
  readonly bitrateBps: number;
  /** Of x264 and x265. */
  readonly preset: string;
  /** 8 bits and 4:2:0 unless told otherwise. */
  readonly pixels?: keyof typeof PIXEL_FORMATS;
}

const PIXEL_FORMATS = { yuv420p: AV_PIX_FMT_YUV420P, yuv444p10le: AV_PIX_FMT_YUV444P10LE } as const;

/** One generated track: each call of `next` makes one frame and returns what the encoder gives for it. Runs inside a media child only. */
export class GeneratedTrack {
  readonly encoder: CodecContext;
  /** Seconds of one frame. */
  readonly frameSeconds: number;
  readonly #source: FilterContext;
  readonly #graph: FilterGraph;
  readonly #frame = new Frame();

  constructor(graph: FilterGraph, source: FilterContext, encoder: CodecContext, frameSeconds: number) {
    this.encoder = encoder;
    this.frameSeconds = frameSeconds;
    this.#graph = graph;
    this.#source = source;
    this.#frame.alloc();
  }

  /** The packets are the caller's to free. `draw` may change the frame before it is encoded. */
  next(draw?: (frame: Frame) => void): Packet[] {
    check(this.#source.buffersinkGetFrameSync(this.#frame), "cannot generate a frame");
    // The source calls each of its frames an I picture, and the encoder would obey.
    this.#frame.pictType = AV_PICTURE_TYPE_NONE;
    draw?.(this.#frame);
    check(this.encoder.sendFrameSync(this.#frame), "cannot encode a frame");
    this.#frame.unref();
    return this.#drain();
  }

  /** The packets that the encoder still held; nothing can be generated after it. */
  finish(): Packet[] {
    check(this.encoder.sendFrameSync(null), "cannot finish encoding");
    return this.#drain();
  }

  free(): void {
    this.#frame.free();
    this.encoder.freeContext();
    this.#graph.free();
  }

  #drain(): Packet[] {
    const packets: Packet[] = [];
    for (;;) {
      const packet = new Packet();
      packet.alloc();
      const result = this.encoder.receivePacketSync(packet);
      if (result >= 0) {
        packets.push(packet);
        continue;
      }
      packet.free();
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return packets;
      check(result, "cannot encode a frame");
    }
  }
}

/** A moving test picture with a running time and a frame counter in it. */
export async function openPicture(options: PictureOptions): Promise<GeneratedTrack> {
  const { width, height, frameRate, pixels = "yuv420p" } = options;
  const [graph, source] = openSource(
    `testsrc2=size=${width}x${height}:rate=${frameRate},format=${pixels},buffersink@out`,
  );
  const { encoderName, settings } = videoEncoder(options);
  const encoder = await openEncoder(encoderName, settings, (context) => {
    context.width = width;
    context.height = height;
    context.pixelFormat = PIXEL_FORMATS[pixels];
    context.timeBase = new Rational(1, frameRate);
    context.framerate = new Rational(frameRate, 1);
    context.gopSize = Math.round(options.gopSeconds * frameRate);
    context.maxBFrames = options.bFrames;
    context.bitRate = BigInt(options.bitrateBps);
  });
  return new GeneratedTrack(graph, source, encoder, 1 / frameRate);
}

export const TONE_RATE = 48_000;
const AAC_FRAME = 1024;

/** A 440 Hz tone in stereo that beeps once a second. */
export async function openTone(bitrateBps: number): Promise<GeneratedTrack> {
  const tone = `sine=frequency=440:beep_factor=4:sample_rate=${TONE_RATE}:samples_per_frame=${AAC_FRAME}`;
  const [graph, source] = openSource(`${tone},aformat=sample_fmts=fltp:channel_layouts=stereo,abuffersink@out`);
  const encoder = await openAudioEncoder({
    ...{ encoder: FF_ENCODER_AAC, sampleFormat: AV_SAMPLE_FMT_FLTP, sampleRate: TONE_RATE, channels: 2, bitrateBps },
  });
  return new GeneratedTrack(graph, source, encoder, AAC_FRAME / TONE_RATE);
}

/** GOPs of exactly the asked length that begin with an IDR picture, and no more delay than B-frames need. */
function videoEncoder({ codec, gopSeconds, frameRate, bFrames, preset }: PictureOptions): {
  encoderName: FFEncoderCodec;
  settings: Record<string, string>;
} {
  const gop = Math.round(gopSeconds * frameRate);
  const structure = `keyint=${gop}:min-keyint=${gop}:scenecut=0:open-gop=0:bframes=${bFrames}:b-adapt=0`;
  const tune: Record<string, string> = bFrames === 0 ? { tune: "zerolatency" } : {};
  switch (codec) {
    case "avc":
      return {
        encoderName: FF_ENCODER_LIBX264,
        settings: { ...tune, preset, "x264-params": `${structure}:sliced-threads=0` },
      };
    case "hevc":
      return {
        encoderName: FF_ENCODER_LIBX265,
        settings: { ...tune, preset, "x265-params": `${structure}:log-level=none:pools=none:frame-threads=1` },
      };
    case "av1":
      return {
        encoderName: FF_ENCODER_LIBSVTAV1,
        settings: { preset: "12", "svtav1-params": `keyint=${gop}:scd=0:lp=1` },
      };
  }
}

/** A filter graph without inputs whose end is named `out`. */
function openSource(description: string): [FilterGraph, FilterContext] {
  const graph = new FilterGraph();
  graph.alloc();
  check(graph.parse2(description), "cannot make the test source");
  check(graph.configSync(), "cannot make the test source");
  const end = graph.getFilter(description.slice(description.lastIndexOf(",") + 1));
  if (!end) throw new Error("cannot make the test source: its graph has no end");
  return [graph, end];
}
