import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_OPUS,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBOPUS,
} from "node-av/constants";
import {
  avGetSampleFmtName,
  Codec,
  CodecContext,
  Dictionary,
  type FilterContext,
  FilterGraph,
  Frame,
  Packet,
  Rational,
} from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import type { AudioSource, AudioTarget } from "./audio-protocol.ts";
import { check } from "./generated-track.ts";

const OUTPUT_RATE = 48_000;
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / OUTPUT_RATE;
/** In the order of their channels; for other counts FFmpeg's own guess. */
const LAYOUTS = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"];

const SOURCES = { aac: AV_CODEC_ID_AAC, opus: AV_CODEC_ID_OPUS } as const;

const TARGETS = {
  aac: { encoder: FF_ENCODER_AAC, format: AV_SAMPLE_FMT_FLTP, options: {} },
  opus: {
    encoder: FF_ENCODER_LIBOPUS,
    format: AV_SAMPLE_FMT_FLT,
    options: { application: "audio", frame_duration: "20", vbr: "on", fec: "1", packet_loss: "5" },
  },
} as const;

export interface ConvertedAudio {
  /** 90 kHz ticks, on the source's clock. */
  readonly pts: number;
  readonly data: Uint8Array;
}

/**
 * One audio track from one codec to another, at 48 kHz and in stereo or mono. Times are kept: where the source has a hole, there is silence, and
 * what overlaps is cut. Runs inside a child only.
 */
export class AudioConverter {
  readonly #decoder: CodecContext;
  readonly #encoder: CodecContext;
  readonly #target: AudioTarget;
  readonly #packet = new Packet();
  readonly #frame = new Frame();
  /** Made for the first frame, which tells how the decoder gives samples. */
  #filter: { readonly shape: string; readonly graph: FilterGraph; input: FilterContext; output: FilterContext } | null =
    null;

  private constructor(decoder: CodecContext, encoder: CodecContext, target: AudioTarget) {
    this.#decoder = decoder;
    this.#encoder = encoder;
    this.#target = target;
    this.#packet.alloc();
    this.#frame.alloc();
  }

  static async open(source: AudioSource, target: AudioTarget): Promise<AudioConverter> {
    return new AudioConverter(await openDecoder(source), await openEncoder(target), target);
  }

  /** The configuration for a decoder of the output: the AudioSpecificConfig; empty for Opus. */
  get config(): Uint8Array {
    return this.#target.codec === "aac" ? (this.#encoder.extraData ?? new Uint8Array()) : new Uint8Array();
  }

  /** Converts one frame, and gives what the encoder has for it. A frame that cannot be decoded is left out. */
  async convert(data: Uint8Array, pts: number, onPacket: (packet: ConvertedAudio) => void): Promise<void> {
    this.#packet.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.#packet.pts = BigInt(Math.round(pts));
    this.#packet.dts = this.#packet.pts;
    const sent = await this.#decoder.sendPacket(this.#packet);
    this.#packet.unref();
    if (sent < 0) return;
    while ((await this.#decoder.receiveFrame(this.#frame)) >= 0) {
      const { input, output } = this.#filterFor(this.#frame);
      check(await input.buffersrcAddFrame(this.#frame), "cannot convert audio");
      this.#frame.unref();
      while ((await output.buffersinkGetFrame(this.#frame)) >= 0) await this.#encode(onPacket);
    }
  }

  async #encode(onPacket: (packet: ConvertedAudio) => void): Promise<void> {
    check(await this.#encoder.sendFrame(this.#frame), "cannot encode audio");
    this.#frame.unref();
    for (;;) {
      const received = await this.#encoder.receivePacket(this.#packet);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return;
      check(received, "cannot encode audio");
      const data = Uint8Array.from(this.#packet.data ?? []);
      const pts = Math.round(Number(this.#packet.pts) * TICKS_PER_SAMPLE);
      this.#packet.unref();
      if (data.length > 0) onPacket({ pts, data });
    }
  }

  /** A source may change its rate and channels, as HE-AAC does behind its first frame. */
  #filterFor(frame: Frame) {
    const { sampleRate, channels } = frame;
    const format = avGetSampleFmtName(frame.format as Parameters<typeof avGetSampleFmtName>[0]) ?? "fltp";
    const layout = LAYOUTS[channels - 1] ?? `${channels}c`;
    const shape = `time_base=1/${TICKS_PER_SECOND}:sample_rate=${sampleRate}:sample_fmt=${format}:channel_layout=${layout}`;
    if (this.#filter?.shape === shape) return this.#filter;
    this.#filter?.graph.free();
    const graph = new FilterGraph();
    graph.alloc();
    const { channels: wanted } = this.#target;
    const output = `sample_fmts=${avGetSampleFmtName(TARGETS[this.#target.codec].format)}:sample_rates=${OUTPUT_RATE}:channel_layouts=${wanted === 1 ? "mono" : "stereo"}`;
    const frames = `asetnsamples=n=${this.#encoder.frameSize}:p=0`;
    check(
      graph.parse2(
        `abuffer@in=${shape},aresample=${OUTPUT_RATE}:async=1:min_hard_comp=0.1,aformat=${output},${frames},abuffersink@out`,
      ),
      "cannot set up the audio converter",
    );
    check(graph.configSync(), "cannot set up the audio converter");
    const from = graph.getFilter("abuffer@in");
    const to = graph.getFilter("abuffersink@out");
    if (!from || !to) throw new Error("cannot set up the audio converter: its graph has no ends");
    this.#filter = { shape, graph, input: from, output: to };
    return this.#filter;
  }
}

async function openDecoder({ codec: name, config, sampleRate, channels }: AudioSource): Promise<CodecContext> {
  const codec = Codec.findDecoder(SOURCES[name]);
  if (!codec) throw new Error(`this build of FFmpeg has no decoder for ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  // Opus in RTP has no configuration, and needs none for one or two channels.
  if (name === "aac") context.extraData = Buffer.from(config, "base64");
  context.sampleRate = sampleRate;
  context.channelLayout = channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO;
  context.pktTimebase = new Rational(1, TICKS_PER_SECOND);
  context.threadCount = 1;
  check(await context.open2(codec), `cannot open the decoder for ${name}`);
  return context;
}

async function openEncoder({ codec: name, channels, bitrateBps }: AudioTarget): Promise<CodecContext> {
  const { encoder, format, options } = TARGETS[name];
  const codec = Codec.findEncoderByName(encoder);
  if (!codec) throw new Error(`this build of FFmpeg has no encoder ${encoder}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  context.sampleRate = OUTPUT_RATE;
  context.sampleFormat = format;
  context.channelLayout = channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO;
  context.timeBase = new Rational(1, OUTPUT_RATE);
  context.bitRate = BigInt(bitrateBps);
  context.threadCount = 1;
  check(await context.open2(codec, Dictionary.fromObject(options)), `cannot open the encoder ${encoder}`);
  return context;
}
