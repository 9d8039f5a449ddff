import { AV_NOPTS_VALUE, AVERROR_EAGAIN, AVERROR_EOF, FF_DECODER_LIBDAV1D } from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, type Packet } from "node-av/lib";
import { check } from "../transcode/ffmpeg.ts";
import { FileRefused } from "./refusal.ts";
import { MAX_PIXELS, type SourceTrack, ticksOf } from "./source-file.ts";

/** Called for each decoded picture in presentation order, with its time in the file. The picture is valid until the promise resolves. */
export type OnPicture = (picture: Frame, fileTicks: number) => Promise<void>;

const THREADS = 2;

/** Decodes the video of a file. Undecodable pictures are skipped. */
export class PictureDecoder {
  readonly #context: CodecContext;
  readonly #track: SourceTrack;
  readonly #frame = new Frame();

  private constructor(context: CodecContext, track: SourceTrack) {
    this.#context = context;
    this.#track = track;
    this.#frame.alloc();
  }

  /** Throws `FileRefused`. */
  static async open(track: SourceTrack): Promise<PictureDecoder> {
    const { stream, codec: name } = track;
    // FFmpeg's built-in AV1 decoder requires hardware.
    const codec =
      (name === "av1" && Codec.findDecoderByName(FF_DECODER_LIBDAV1D)) || Codec.findDecoder(stream.codecpar.codecId);
    if (!codec)
      throw new FileRefused(
        `This build of FFmpeg has no decoder for the file's video (${name}). Export it with H.264.`,
      );
    const context = new CodecContext();
    context.allocContext3(codec);
    check(stream.codecpar.toContext(context), "cannot configure the video decoder");
    context.pktTimebase = stream.timeBase;
    context.threadCount = THREADS;
    if ((await context.open2(codec, Dictionary.fromObject({ max_pixels: String(MAX_PIXELS) }))) < 0)
      throw new FileRefused(`The video of this file (${name}) cannot be decoded. Export it again with H.264.`);
    return new PictureDecoder(context, track);
  }

  async decode(packet: Packet, onPicture: OnPicture): Promise<void> {
    // FFmpeg decodes in its own threads while the encoders run.
    if (this.#context.sendPacketSync(packet) >= 0) await this.#receive(onPicture);
  }

  async finish(onPicture: OnPicture): Promise<void> {
    if (this.#context.sendPacketSync(null) >= 0) await this.#receive(onPicture);
  }

  free(): void {
    this.#frame.free();
    this.#context.freeContext();
  }

  async #receive(onPicture: OnPicture): Promise<void> {
    for (;;) {
      const result = this.#context.receiveFrameSync(this.#frame);
      if (result === AVERROR_EAGAIN || result === AVERROR_EOF || result < 0) return;
      const { pts, bestEffortTimestamp } = this.#frame;
      const ticks = ticksOf(pts === AV_NOPTS_VALUE ? bestEffortTimestamp : pts, this.#track.stream);
      if (ticks !== null) await onPicture(this.#frame, ticks);
      this.#frame.unref();
    }
  }
}
