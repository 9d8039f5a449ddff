import {
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_LOG_QUIET,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  type AVSampleFormat,
  type FFEncoderCodec,
} from "node-av/constants";
import {
  avChannelLayoutDefault,
  Codec,
  CodecContext,
  CodecParameters,
  Dictionary,
  FFmpegError,
  Log,
  Rational,
} from "node-av/lib";

// FFmpeg prints the addresses it is given, and those have stream keys in them. A hostile file could make it log without limit.
Log.setLevel(AV_LOG_QUIET);

/** Throws what FFmpeg's negative return value means; `doing` begins the sentence. */
export function check(result: number, doing: string): void {
  if (result < 0) throw new Error(`${doing}: ${new FFmpegError(result).message}`);
}

/** Whether a call that asked for the next frame or packet got one; false where more must be given first, or nothing follows. Throws as `check`. */
export function isThere(result: number, doing: string): boolean {
  if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return false;
  check(result, doing);
  return true;
}

/** An encoder in one thread, with its parameters outside of its packets. `configure` gives it the rest. */
export async function openEncoder(
  name: FFEncoderCodec,
  options: Record<string, string>,
  configure: (context: CodecContext) => void,
): Promise<CodecContext> {
  const codec = Codec.findEncoderByName(name);
  if (!codec) throw new Error(`this build of FFmpeg has no encoder ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  context.threadCount = 1;
  configure(context);
  // Never open2Sync: FFmpeg replaces the dictionary that it is given, and node-av 6.1.1 goes on with the freed one.
  const opened = await context.open2(codec, Dictionary.fromObject(options));
  const { width, height } = context;
  check(opened, `cannot open the encoder ${name}${width > 0 ? ` for ${width}x${height}` : ""}`);
  return context;
}

/** The body of `avcC` of an opened encoder of H.264. */
export function decoderConfig(context: CodecContext): Buffer {
  const parameters = new CodecParameters();
  parameters.alloc();
  check(parameters.fromContext(context), "cannot describe an encoder");
  const config = parameters.getDecoderConfigurationRecord();
  parameters.free();
  if (!config) throw new Error("the encoder gives no parameter sets");
  return config;
}

export interface AudioEncoderSettings {
  readonly encoder: FFEncoderCodec;
  readonly sampleRate: number;
  readonly sampleFormat: AVSampleFormat;
  readonly channels: number;
  readonly bitrateBps: number;
  readonly options?: Record<string, string>;
}

/** Its times count samples. */
export function openAudioEncoder(settings: AudioEncoderSettings): Promise<CodecContext> {
  const { encoder, sampleRate, sampleFormat, channels, bitrateBps, options = {} } = settings;
  return openEncoder(encoder, options, (context) => {
    context.sampleRate = sampleRate;
    context.sampleFormat = sampleFormat;
    context.channelLayout = avChannelLayoutDefault(channels);
    context.timeBase = new Rational(1, sampleRate);
    context.bitRate = BigInt(bitrateBps);
  });
}
