import { AV_PIX_FMT_YUV420P, FF_ENCODER_LIBWEBP_ANIM } from "node-av/constants";
import { type CodecContext, type Frame, Packet, Rational } from "node-av/lib";
import { check, openEncoder } from "./ffmpeg.ts";

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
    const context = await openEncoder(FF_ENCODER_LIBWEBP_ANIM, OPTIONS, (made) => {
      Object.assign(made, { width, height, pixelFormat: WEBP_PIXELS });
      made.timeBase = new Rational(1, 1000);
    });
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
}
