import { AVMEDIA_TYPE_VIDEO, AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import { Codec, CodecContext, FormatContext, Frame, Packet, type Stream } from "node-av/lib";
import { expect } from "vitest";

/** A URL opened with FFmpeg's libraries. */
export class AvFile implements AsyncDisposable {
  readonly #format = new FormatContext();
  #video: Stream | null = null;

  static async open(url: string): Promise<AvFile> {
    const file = new AvFile();
    expect(await file.#format.openInput(url)).toBe(0);
    await file.#format.findStreamInfo();
    const { streams } = file.#format;
    file.#video = streams.find(({ codecpar }) => codecpar.codecType === AVMEDIA_TYPE_VIDEO) ?? null;
    return file;
  }

  /** Number of decoded pictures by width, from the current position on. */
  async decode(): Promise<Record<number, number>> {
    const { codecpar } = this.#picture;
    const codec = Codec.findDecoder(codecpar.codecId);
    using decoder = new CodecContext();
    decoder.allocContext3(codec);
    decoder.parametersToContext(codecpar);
    expect(await decoder.open2(codec)).toBe(0);
    using frame = new Frame();
    frame.alloc();
    const widths: Record<number, number> = {};
    const count = async (): Promise<void> => {
      while ((await decoder.receiveFrame(frame)) === 0) widths[frame.width] = (widths[frame.width] ?? 0) + 1;
    };
    for (;;) {
      using packet = await this.#next();
      expect(await decoder.sendPacket(packet)).toBe(0);
      await count();
      if (!packet) return widths;
    }
  }

  /** Time of the first picture after a seek, in seconds. */
  async seek(seconds: number): Promise<number> {
    const { index, timeBase } = this.#picture;
    const at = BigInt(Math.round((seconds * timeBase.den) / timeBase.num));
    expect(await this.#format.seekFrame(index, at, AVSEEK_FLAG_BACKWARD)).toBeGreaterThanOrEqual(0);
    using packet = await this.#next();
    if (!packet) return expect.fail(`nothing at ${seconds} s`);
    expect(packet.isKeyframe).toBe(true);
    return (Number(packet.dts) * timeBase.num) / timeBase.den;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#format.closeInput();
  }

  get #picture(): Stream {
    return this.#video ?? expect.fail("there is no picture");
  }

  /** Null at the end of the file. */
  async #next(): Promise<Packet | null> {
    const packet = new Packet();
    packet.alloc();
    while ((await this.#format.readFrame(packet)) >= 0) {
      if (packet.streamIndex === this.#picture.index) return packet;
      packet.unref();
    }
    packet.free();
    return null;
  }
}
