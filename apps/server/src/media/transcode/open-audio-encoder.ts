import { AV_CODEC_FLAG_GLOBAL_HEADER, type AVSampleFormat, type FFEncoderCodec } from "node-av/constants";
import { avChannelLayoutDefault, Codec, CodecContext, Dictionary, Rational } from "node-av/lib";
import { check } from "./generated-track.ts";

export interface AudioEncoderSettings {
  readonly encoder: FFEncoderCodec;
  readonly sampleRate: number;
  readonly sampleFormat: AVSampleFormat;
  readonly channels: number;
  readonly bitrateBps: number;
  readonly options?: Record<string, string>;
}

/** Its times count samples. */
export async function openAudioEncoder(settings: AudioEncoderSettings): Promise<CodecContext> {
  const { encoder: name, sampleRate, sampleFormat, channels, bitrateBps, options = {} } = settings;
  const codec = Codec.findEncoderByName(name);
  if (!codec) throw new Error(`this build of FFmpeg has no encoder ${name}`);
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  encoder.sampleRate = sampleRate;
  encoder.sampleFormat = sampleFormat;
  encoder.channelLayout = avChannelLayoutDefault(channels);
  encoder.timeBase = new Rational(1, sampleRate);
  encoder.bitRate = BigInt(bitrateBps);
  encoder.threadCount = 1;
  check(await encoder.open2(codec, Dictionary.fromObject(options)), `cannot open the encoder ${name}`);
  return encoder;
}
