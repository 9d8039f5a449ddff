import { AV_PIX_FMT_YUV420P, FF_ENCODER_LIBWEBP_ANIM } from "node-av/constants";
import { Codec, CodecContext, Dictionary, type Frame, Packet, Rational } from "node-av/lib";
import { check } from "./generated-track.ts";

/** Small rather than fine: about a quarter of the time of the encoder's own choice. */
const OPTIONS = { quality: "60", compression_level: "1" };

/** The pixels of its pictures, in limited range. */
export const WEBP_PIXELS = AV_PIX_FMT_YUV420P;

/** An animation in WebP, which begins again for ever. */
export class WebpAnimation {
  readonly #context: CodecContext;

  private constructor(context: CodecContext) {
    this.#context = context;
  }

  static async open({ width, height }: { readonly width: number; readonly height: number }): Promise<WebpAnimation> {
    const encoder = Codec.findEncoderByName(FF_ENCODER_LIBWEBP_ANIM);
    if (!encoder) throw new Error("this build of FFmpeg has no encoder for animated WebP");
    const context = new CodecContext();
    context.allocContext3(encoder);
    Object.assign(context, { width, height, pixelFormat: WEBP_PIXELS, threadCount: 1 });
    context.timeBase = new Rational(1, 1000);
    check(await context.open2(encoder, Dictionary.fromObject(OPTIONS)), "cannot open the encoder for WebP");
    return new WebpAnimation(context);
  }

  /** `picture` has `WEBP_PIXELS`; its time is in milliseconds and rises. */
  async add(picture: Frame, milliseconds: number): Promise<void> {
    picture.pts = BigInt(Math.round(milliseconds));
    check(await this.#context.sendFrame(picture), "cannot encode an animation");
  }

  /** The whole file; the animation is not to be used any more. */
  async finish(): Promise<Uint8Array> {
    check(await this.#context.sendFrame(null), "cannot encode an animation");
    using packet = new Packet();
    packet.alloc();
    check(await this.#context.receivePacket(packet), "cannot encode an animation");
    return Uint8Array.from(packet.data ?? []);
  }

  free(): void {
    this.#context.freeContext();
  }
}
