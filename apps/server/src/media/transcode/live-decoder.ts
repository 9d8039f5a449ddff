import {
  AV_CODEC_FLAG_LOW_DELAY,
  AV_CODEC_ID_AV1,
  AV_CODEC_ID_H264,
  AV_CODEC_ID_HEVC,
  AV_FRAME_FLAG_INTERLACED,
  AV_NOPTS_VALUE,
  AVERROR_EAGAIN,
  AVERROR_EOF,
  FF_DECODER_LIBDAV1D,
  FF_THREAD_SLICE,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, FFmpegError, Frame, Packet, Rational } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { check } from "./ffmpeg.ts";
import type { TranscodeSource } from "./transcode-protocol.ts";

/** Called for each decoded frame in order of PTS; the frame is lent until the promise resolves. */
export type OnFrame = (frame: Frame, pts: number) => Promise<void>;

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

/** Decodes one live video track with no more delay than its B-frames need. */
export class LiveDecoder {
  readonly #context: CodecContext;
  readonly #packet = new Packet();
  readonly #frame = new Frame();

  private constructor(context: CodecContext) {
    this.#context = context;
    this.#packet.alloc();
    this.#frame.alloc();
  }

  static async open(
    { codec: name, config }: Pick<TranscodeSource, "codec" | "config">,
    { threads = 2, isDeblocked = true } = {},
  ): Promise<LiveDecoder> {
    const codec = findDecoder(name);
    if (!codec) throw new DecodeError(`this build of FFmpeg has no decoder for ${name}`);
    const context = new CodecContext();
    context.allocContext3(codec);
    context.extraData = withLengthsOfFour(name, Buffer.from(config, "base64"));
    context.pktTimebase = new Rational(1, TICKS_PER_SECOND);
    // Threads by frame would hold back a frame each.
    context.threadType = FF_THREAD_SLICE;
    context.threadCount = threads;
    // For H.264 the flag says that there are no B-frames; dav1d takes it as "decode one frame at a time".
    if (name === "av1") context.setFlags(AV_CODEC_FLAG_LOW_DELAY);
    const options = Dictionary.fromObject({ skip_loop_filter: isDeblocked ? "default" : "all" });
    check(await context.open2(codec, options), "cannot open the decoder");
    return new LiveDecoder(context);
  }

  /** Decodes one access unit. Throws `DecodeError` when it is damaged; `restart` and an independent unit heal that. */
  async decode(data: Uint8Array, dts: number, pts: number, isIndependent: boolean, onFrame: OnFrame): Promise<void> {
    this.#packet.data = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.#packet.dts = BigInt(Math.round(dts));
    this.#packet.pts = BigInt(Math.round(pts));
    this.#packet.isKeyframe = isIndependent;
    const result = await this.#context.sendPacket(this.#packet);
    this.#packet.unref();
    if (result < 0) throw new DecodeError(new FFmpegError(result).message);
    await this.#receive(onFrame);
  }

  /** Gives the frames that are held back for reordering, and forgets all references: an independent unit comes next. */
  async restart(onFrame: OnFrame): Promise<void> {
    if ((await this.#context.sendPacket(null)) >= 0) await this.#receive(onFrame);
    this.#context.flushBuffers();
  }

  free(): void {
    this.#context.freeContext();
    this.#packet.free();
    this.#frame.free();
  }

  async #receive(onFrame: OnFrame): Promise<void> {
    for (;;) {
      const result = await this.#context.receiveFrame(this.#frame);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF) return;
      if (result < 0) throw new DecodeError(new FFmpegError(result).message);
      const { pts, bestEffortTimestamp } = this.#frame;
      const time = pts === AV_NOPTS_VALUE ? bestEffortTimestamp : pts;
      // The scaler and the encoder would treat the fields apart; rungs are progressive.
      this.#frame.clearFlags(AV_FRAME_FLAG_INTERLACED);
      if (time !== AV_NOPTS_VALUE) await onFrame(this.#frame, Number(time));
      this.#frame.unref();
    }
  }
}

function findDecoder(name: TranscodeSource["codec"]): Codec | null {
  switch (name) {
    case "avc":
      return Codec.findDecoder(AV_CODEC_ID_H264);
    case "hevc":
      return Codec.findDecoder(AV_CODEC_ID_HEVC);
    case "av1":
      // FFmpeg's own decoder of AV1 needs hardware.
      return Codec.findDecoderByName(FF_DECODER_LIBDAV1D) ?? Codec.findDecoder(AV_CODEC_ID_AV1);
  }
}

/** Access units come with lengths of 4 bytes, whatever the source's own were (ISO/IEC 14496-15 5.3.3.1, 8.3.3.1: lengthSizeMinusOne). */
function withLengthsOfFour(name: TranscodeSource["codec"], config: Buffer): Buffer {
  const at = { avc: 4, hevc: 21, av1: -1 }[name];
  const value = config[at];
  if (value !== undefined) config[at] = value | 3;
  return config;
}
