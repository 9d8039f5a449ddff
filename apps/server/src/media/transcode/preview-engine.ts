import type { Frame } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { FatalTranscodeError, unexpected } from "./fatal-transcode-error.ts";
import { DecodeError, LiveDecoder } from "./live-decoder.ts";
import { fitted, type PictureSize, scaled } from "./still-scaler.ts";
import type { Engine, PreviewStart, Send, ToChild } from "./transcode-protocol.ts";
import { WEBP_PIXELS, WebpAnimation } from "./webp-animation.ts";

/** Makes an animation of the packets of a stretch of video, in the child. Where none can be decoded it is empty. */
export class PreviewEngine {
  readonly #start: PreviewStart;
  readonly #decoder: LiveDecoder;
  readonly #send: Send;
  #animation: { readonly webp: WebpAnimation; readonly size: PictureSize } | null = null;
  /** The next picture that is shown is the first with this PTS or a later one. */
  #nextTicks: number;
  #waitsForIdr = true;

  private constructor(start: PreviewStart, decoder: LiveDecoder, send: Send) {
    this.#start = start;
    this.#decoder = decoder;
    this.#send = send;
    this.#nextTicks = start.fromTicks;
  }

  /** Throws `FatalTranscodeError`. */
  static async open(start: PreviewStart, send: Send): Promise<Engine> {
    const decoder = await LiveDecoder.open(start).catch((error: Error) => {
      throw new FatalTranscodeError("decode", `The video cannot be decoded: ${error.message}`, error);
    });
    const engine = new PreviewEngine(start, decoder, send);
    return (message) => engine.#take(message);
  }

  async #take(message: ToChild): Promise<void> {
    if (message.type === "packet") return this.#packet(message);
    if (message.type !== "flush") throw unexpected(message);
    await this.#survive(() => this.#decoder.restart(this.#onFrame));
    const data = await this.#animation?.webp.finish();
    this.#send({ type: "still", id: message.id, data: data ?? new Uint8Array() });
  }

  async #packet({ dts, pts, isIndependent, data }: Extract<ToChild, { type: "packet" }>): Promise<void> {
    if (this.#waitsForIdr && !isIndependent) return;
    this.#waitsForIdr = false;
    await this.#survive(() => this.#decoder.decode(data, dts, pts, isIndependent, this.#onFrame));
  }

  /** After damage it goes on at the next independent packet. */
  async #survive(decode: () => Promise<void>): Promise<void> {
    await decode().catch((error: unknown) => {
      if (!(error instanceof DecodeError)) throw error;
      this.#waitsForIdr = true;
    });
  }

  readonly #onFrame = async (picture: Frame, pts: number): Promise<void> => {
    const { fromTicks, toTicks, frameRate } = this.#start;
    if (pts < this.#nextTicks || pts >= toTicks) return;
    const apart = TICKS_PER_SECOND / frameRate;
    this.#nextTicks = fromTicks + (Math.floor((pts - fromTicks) / apart) + 1) * apart;
    // A picture of another size, later on, gets that of the first.
    const size = this.#animation?.size ?? fitted(picture, this.#start);
    this.#animation ??= { webp: await WebpAnimation.open(size), size };
    using image = await scaled(picture, size, WEBP_PIXELS, "limited");
    await this.#animation.webp.add(image, ((pts - fromTicks) * 1000) / TICKS_PER_SECOND);
  };
}
