import { describeAac } from "@weir/formats/codecs";
import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_ENCODER_AAC,
} from "node-av/constants";
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  Codec,
  CodecContext,
  type FilterContext,
  FilterGraph,
  Frame,
  Packet,
  Rational,
} from "node-av/lib";
import { type AacTrack, TICKS_PER_SECOND } from "../packet.ts";
import { check } from "../transcode/generated-track.ts";
import type { AudioFrame } from "./audio-line.ts";
import { FileRefused } from "./refusal.ts";
import type { SourceTrack } from "./source-file.ts";

const FRAME_SAMPLES = 1024;
const BITRATE_PER_CHANNEL = 64_000;
/** Rates that every player takes; others become the last one. */
const RATES = [32_000, 44_100, 48_000];
/** A hole in the sound that is longer than the longest video is a wrong time. */
const MAX_SECONDS = 24 * 3600;
/** Broken packets in a row without any sound. */
const HOPELESS_PACKETS = 200;

/** Decodes any sound and codes it as AAC of one or two channels; holes are filled with silence. */
export class AudioEncoder {
  readonly track: AacTrack;
  readonly #decoder: CodecContext;
  readonly #encoder: CodecContext;
  readonly #rate: number;
  readonly #channels: number;
  readonly #frame = new Frame();
  readonly #filtered = new Frame();
  readonly #packet = new Packet();
  #graph: FilterGraph | null = null;
  #source: FilterContext | null = null;
  #sink: FilterContext | null = null;
  #shape = "";
  #broken = 0;
  #samplesOut = 0;

  private constructor(decoder: CodecContext, encoder: CodecContext) {
    this.#decoder = decoder;
    this.#encoder = encoder;
    this.#rate = encoder.sampleRate;
    this.#channels = encoder.channels;
    for (const each of [this.#frame, this.#filtered, this.#packet]) each.alloc();
    const config = Buffer.from(encoder.extraData ?? []);
    this.track = { id: 1, kind: "audio", codec: "aac", config, ...describeAac(config) };
  }

  static async open({ stream, codec: name }: SourceTrack): Promise<AudioEncoder> {
    const { codecpar } = stream;
    const codec = Codec.findDecoder(codecpar.codecId);
    if (!codec)
      throw new FileRefused(`This build of FFmpeg has no decoder for the file's sound (${name}). Export it with AAC.`);
    const decoder = new CodecContext();
    decoder.allocContext3(codec);
    check(codecpar.toContext(decoder), "cannot describe the sound");
    decoder.pktTimebase = stream.timeBase;
    decoder.threadCount = 1;
    if ((await decoder.open2(codec)) < 0 || codecpar.sampleRate <= 0 || codecpar.channels <= 0)
      throw new FileRefused(`The sound of this file (${name}) cannot be decoded. Export it again with AAC.`);
    return new AudioEncoder(decoder, await openEncoder(codecpar.sampleRate, Math.min(2, codecpar.channels)));
  }

  /** Decode one packet whose first sample stands at `ticks`; null for one without a time. */
  take(packet: Packet, ticks: number | null): AudioFrame[] {
    if (this.#decoder.sendPacketSync(packet) < 0) return this.#isBroken();
    return this.#receive(ticks);
  }

  finish(): AudioFrame[] {
    const frames = this.#decoder.sendPacketSync(null) >= 0 ? this.#receive(null) : [];
    if (!this.#source) return frames;
    check(this.#source.buffersrcAddFrameSync(null), "cannot end the sound");
    frames.push(...this.#encodeFiltered());
    check(this.#encoder.sendFrameSync(null), "cannot end the sound");
    frames.push(...this.#drain());
    return frames;
  }

  #isBroken(): AudioFrame[] {
    if (++this.#broken >= HOPELESS_PACKETS && this.#samplesOut === 0)
      throw new FileRefused("The sound of this file cannot be decoded: it is damaged. Export it again with AAC.");
    return [];
  }

  #receive(ticks: number | null): AudioFrame[] {
    const frames: AudioFrame[] = [];
    let at = ticks;
    for (;;) {
      const received = this.#decoder.receiveFrameSync(this.#frame);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return frames;
      if (received < 0) {
        this.#isBroken();
        return frames;
      }
      const seconds = at === null ? null : at / TICKS_PER_SECOND;
      at = null;
      if (seconds !== null && Math.abs(seconds) > MAX_SECONDS) continue;
      this.#follow(this.#frame);
      const { nbSamples, sampleRate } = this.#frame;
      const start = seconds === null ? this.#inputNext : Math.round(seconds * sampleRate);
      this.#inputNext = start + nbSamples;
      this.#frame.pts = BigInt(start);
      check(this.#source?.buffersrcAddFrameSync(this.#frame) ?? 0, "cannot convert the sound");
      this.#frame.unref();
      frames.push(...this.#encodeFiltered());
    }
  }
  #inputNext = 0;

  /** The graph that the frames go through; another one where they change their shape. */
  #follow({ sampleRate, format, channelLayout, channels }: Frame): void {
    const layout = avChannelLayoutDescribe(channelLayout) ?? "";
    // Of sound that does not say which speaker is which, only the number is known.
    const known =
      /^\d+ channels$/.test(layout) || layout === ""
        ? avChannelLayoutDescribe(avChannelLayoutDefault(channels))
        : layout;
    const shape = `sample_rate=${sampleRate}:sample_fmt=${avGetSampleFmtName(format as never)}:channel_layout=${known}:time_base=1/${sampleRate}`;
    if (shape === this.#shape) return;
    this.#graph?.free();
    const output = this.#channels === 1 ? "mono" : "stereo";
    const graph = new FilterGraph();
    graph.alloc();
    const description = [
      `abuffer@in=${shape}`,
      // Fills holes, and leaves out what is before the beginning.
      `aresample=${this.#rate}:async=1:first_pts=${this.#samplesOut}`,
      `aformat=sample_fmts=fltp:channel_layouts=${output}:sample_rates=${this.#rate}`,
      `asetnsamples=n=${FRAME_SAMPLES}:p=1`,
      "abuffersink@out",
    ].join(",");
    check(graph.parse2(description), "cannot convert the sound");
    check(graph.configSync(), "cannot convert the sound");
    this.#source = graph.getFilter("abuffer@in");
    this.#sink = graph.getFilter("abuffersink@out");
    this.#graph = graph;
    this.#shape = shape;
  }

  #encodeFiltered(): AudioFrame[] {
    const frames: AudioFrame[] = [];
    for (;;) {
      const received = this.#sink?.buffersinkGetFrameSync(this.#filtered) ?? AVERROR_EOF;
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return frames;
      check(received, "cannot convert the sound");
      // The filter fills every hole, so samples can be counted.
      this.#filtered.pts = BigInt(this.#samplesOut);
      this.#samplesOut += this.#filtered.nbSamples;
      const sent = this.#encoder.sendFrameSync(this.#filtered);
      this.#filtered.unref();
      check(sent, "cannot code the sound");
      frames.push(...this.#drain());
    }
  }

  #drain(): AudioFrame[] {
    const frames: AudioFrame[] = [];
    for (;;) {
      const received = this.#encoder.receivePacketSync(this.#packet);
      if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return frames;
      check(received, "cannot code the sound");
      const time = Number(this.#packet.pts);
      // The first one is what the coder needs to swing in.
      if (time >= 0) frames.push({ time, data: Uint8Array.from(this.#packet.data ?? []) });
      this.#packet.unref();
    }
  }
}

async function openEncoder(sourceRate: number, channels: number): Promise<CodecContext> {
  const codec = Codec.findEncoderByName(FF_ENCODER_AAC);
  if (!codec) throw new Error("this build of FFmpeg has no AAC encoder");
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  encoder.sampleRate = RATES.includes(sourceRate) ? sourceRate : (RATES.at(-1) ?? sourceRate);
  encoder.sampleFormat = AV_SAMPLE_FMT_FLTP;
  encoder.channelLayout = avChannelLayoutDefault(channels);
  encoder.timeBase = new Rational(1, encoder.sampleRate);
  encoder.bitRate = BigInt(BITRATE_PER_CHANNEL * channels);
  encoder.threadCount = 1;
  check(await encoder.open2(codec), "cannot open the AAC encoder");
  return encoder;
}
