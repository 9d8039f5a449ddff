import { annexBToLengthPrefixed, describeAvc } from "@weir/formats/codecs";
import {
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AVCOL_PRI_BT709,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
  type AVPixelFormat,
  type FFEncoderCodec,
} from "node-av/constants";
import { type CodecContext, type Frame, Packet, Rational } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { encoderSettings } from "./encoder-settings.ts";
import { check, decoderConfig, isThere, openEncoder } from "./ffmpeg.ts";
import { FrameRateMeter } from "./frame-rate-meter.ts";
import type {
  EncodedPicture,
  ReadyRung,
  TranscodeRung,
  TranscodeSource,
  TranscodeStart,
} from "./transcode-protocol.ts";

/** The frame rate that the encoder assumes until the source's is measured. */
const ASSUMED_FRAME_RATE = 30;
/** A measured rate that is closer to the assumed one changes nothing. */
const RATE_TOLERANCE = 0.05;
/** The ceiling of the bitrate holds over one second: an IDR picture is several frames large. */
const BUFFER_SECONDS = 1;

/** Encodes the pictures of one rung, each as it comes. */
export class RungEncoder {
  readonly pixelFormat: AVPixelFormat;
  readonly ready: ReadyRung;
  readonly #context: CodecContext;
  readonly #bitrateBps: number;
  readonly #packet = new Packet();
  readonly #meter = new FrameRateMeter();
  readonly #nominalRate: number;
  #rate: number;

  private constructor(context: CodecContext, rung: TranscodeRung, nominalRate: number) {
    this.#context = context;
    this.pixelFormat = context.pixelFormat;
    this.#bitrateBps = rung.bitrateBps;
    this.#nominalRate = nominalRate;
    this.#rate = nominalRate;
    this.#packet.alloc();
    const config = decoderConfig(context);
    // RFC 6381: profile, constraints and level, as `avcC` has them.
    const codecString = `avc1.${config.toString("hex", 1, 4)}`;
    this.ready = { index: rung.index, config: config.toString("base64"), codecString };
  }

  static async open(rung: TranscodeRung, { video, encoder, preset }: TranscodeStart): Promise<RungEncoder> {
    const { pixelFormat, options } = encoderSettings(encoder, preset, rung);
    const { num, den } = rung.frameRate ?? { num: ASSUMED_FRAME_RATE, den: 1 };
    const context = await openEncoder(encoder as FFEncoderCodec, options, (made) => {
      made.width = rung.width;
      made.height = rung.height;
      made.pixelFormat = pixelFormat;
      made.timeBase = new Rational(1, TICKS_PER_SECOND);
      made.framerate = new Rational(num, den);
      made.maxBFrames = 0;
      // Beyond any segment: IDR pictures come where segments begin.
      made.gopSize = 100_000;
      setBitrate(made, rung.bitrateBps);
      describePicture(made, video);
    });
    return new RungEncoder(context, rung, num / den);
  }

  /** Encodes `picture` with the time `pts`; null when the encoder leaves it out. Times rise strictly. */
  async encode(picture: Frame, pts: number, isForcedIdr: boolean): Promise<EncodedPicture | null> {
    this.#followRate(this.#meter.add(pts));
    picture.pts = BigInt(pts);
    picture.pictType = isForcedIdr ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    check(await this.#context.sendFrame(picture), "cannot encode a picture");
    // It was encoded when it was sent; a thread would cost more than this takes.
    if (!isThere(this.#context.receivePacketSync(this.#packet), "cannot encode a picture")) return null;
    const { data, isKeyframe } = this.#packet;
    const encoded = {
      pts: Number(this.#packet.pts),
      isIndependent: isKeyframe,
      data: annexBToLengthPrefixed(data ?? Buffer.alloc(0)),
    };
    this.#packet.unref();
    return encoded;
  }

  free(): void {
    this.#context.freeContext();
    this.#packet.free();
  }

  /** Without lookahead x264 spends its bits by the frame, at the rate that it was opened with; so a source of twice that rate gets half as many for each. */
  #followRate(measured: number | null): void {
    if (measured === null || Math.abs(measured / this.#rate - 1) < RATE_TOLERANCE) return;
    this.#rate = measured;
    setBitrate(this.#context, (this.#bitrateBps * this.#nominalRate) / measured);
  }
}

/** Where players tell the colours of untagged video by its height, a smaller rung would look unlike its source. */
const HD_HEIGHT = 720;

/** The shape of the source's pictures, and their colours as far as its size tells them. */
function describePicture(context: CodecContext, { codec, config, width, height }: TranscodeSource): void {
  if (Math.min(width, height) >= HD_HEIGHT) {
    context.colorPrimaries = AVCOL_PRI_BT709;
    context.colorTrc = AVCOL_TRC_BT709;
    context.colorSpace = AVCOL_SPC_BT709;
  }
  const samples = codec === "avc" ? describeAvc(Buffer.from(config, "base64")).sampleAspect : null;
  if (!samples) return;
  const shape = (width * samples[0] * context.height) / (height * samples[1] * context.width);
  context.sampleAspectRatio = new Rational(Math.round(shape * 1000), 1000);
}

function setBitrate(context: CodecContext, bitrateBps: number): void {
  const rate = Math.round(bitrateBps);
  context.bitRate = BigInt(rate);
  context.rcMaxRate = BigInt(rate);
  context.rcBufferSize = rate * BUFFER_SECONDS;
}
