import { AV_NOPTS_VALUE } from "node-av/constants";
import { type CodecContext, Frame, type Packet } from "node-av/lib";
import { type SourceTrack, ticksOf } from "./source-file.ts";
import { openTrackDecoder } from "./track-decoder.ts";

/** Called for each decoded picture in presentation order, with its time in the file. The picture is valid until the promise resolves. */
export type OnPicture = (picture: Frame, fileTicks: number) => Promise<void>;

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
    return new PictureDecoder(await openTrackDecoder(track, "video"), track);
  }

  async decode(packet: Packet, onPicture: OnPicture): Promise<void> {
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
    while (this.#context.receiveFrameSync(this.#frame) >= 0) {
      const { pts, bestEffortTimestamp } = this.#frame;
      const ticks = ticksOf(pts === AV_NOPTS_VALUE ? bestEffortTimestamp : pts, this.#track.stream);
      if (ticks !== null) await onPicture(this.#frame, ticks);
      this.#frame.unref();
    }
  }
}
