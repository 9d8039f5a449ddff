import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_AC3,
  AV_CODEC_ID_EAC3,
  AV_CODEC_ID_MP2,
  AV_CODEC_ID_OPUS,
  AV_CODEC_ID_PCM_ALAW,
  AV_CODEC_ID_PCM_MULAW,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  FF_ENCODER_AAC,
  FF_ENCODER_LIBOPUS,
} from "node-av/constants";
import { Codec, CodecContext, Frame, Packet, Rational } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { AudioReencoder } from "./audio-reencoder.ts";
import { check, openAudioEncoder } from "./ffmpeg.ts";
import type { AudioPacket, AudioSource, AudioTarget } from "./transcode-protocol.ts";

const OUTPUT_RATE = 48_000;
const TICKS_PER_SAMPLE = TICKS_PER_SECOND / OUTPUT_RATE;

const SOURCES = {
  ...{ aac: AV_CODEC_ID_AAC, opus: AV_CODEC_ID_OPUS, mp2: AV_CODEC_ID_MP2 },
  ...{ ac3: AV_CODEC_ID_AC3, eac3: AV_CODEC_ID_EAC3 },
  ...{ pcma: AV_CODEC_ID_PCM_ALAW, pcmu: AV_CODEC_ID_PCM_MULAW },
} as const;

const TARGETS = {
  aac: { encoder: FF_ENCODER_AAC, sampleFormat: AV_SAMPLE_FMT_FLTP, options: {} },
  opus: {
    encoder: FF_ENCODER_LIBOPUS,
    sampleFormat: AV_SAMPLE_FMT_FLT,
    options: { application: "audio", frame_duration: "20", vbr: "on", fec: "1", packet_loss: "5" },
  },
} as const;

/**
 * One audio track from one codec to another, at 48 kHz and in stereo or mono. Times are kept: where the source has a hole, there is silence, and
 * what overlaps is cut. Runs inside a child only.
 */
export class AudioConverter {
  /** The configuration for a decoder of the output: the AudioSpecificConfig; empty for Opus. */
  readonly config: Uint8Array;
  readonly #decoder: CodecContext;
  readonly #reencoder: AudioReencoder;
  readonly #packet = new Packet();
  readonly #frame = new Frame();

  private constructor(decoder: CodecContext, encoder: CodecContext, { codec }: AudioTarget) {
    this.#decoder = decoder;
    this.config = (codec === "aac" && encoder.extraData) || new Uint8Array();
    const resample = (): string => "async=1:min_hard_comp=0.1";
    this.#reencoder = new AudioReencoder({ encoder, unitsPerSecond: () => TICKS_PER_SECOND, resample });
    for (const each of [this.#packet, this.#frame]) each.alloc();
  }

  static async open(source: AudioSource, target: AudioTarget): Promise<AudioConverter> {
    return new AudioConverter(await openDecoder(source), await openEncoder(target), target);
  }

  /** Converts one frame, and returns what the encoder has for it. A frame that cannot be decoded is left out. */
  convert(data: Uint8Array, pts: number): AudioPacket[] {
    this.#packet.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.#packet.pts = BigInt(Math.round(pts));
    this.#packet.dts = this.#packet.pts;
    const sent = this.#decoder.sendPacketSync(this.#packet);
    this.#packet.unref();
    const made: AudioPacket[] = [];
    while (sent >= 0 && this.#decoder.receiveFrameSync(this.#frame) >= 0)
      for (const { time, data } of this.#reencoder.push(this.#frame))
        if (data.length > 0) made.push({ pts: Math.round(time * TICKS_PER_SAMPLE), data });
    return made;
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

function openEncoder({ codec, channels, bitrateBps }: AudioTarget): Promise<CodecContext> {
  return openAudioEncoder({ ...TARGETS[codec], sampleRate: OUTPUT_RATE, channels, bitrateBps });
}
