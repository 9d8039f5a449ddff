import { AV_LOG_QUIET, AVMEDIA_TYPE_VIDEO, AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import { Codec, CodecContext, FormatContext, Frame, Log, Packet, type Stream } from "node-av/lib";
import { expect } from "vitest";
import { readNumber } from "./picture-number.ts";

export interface NumberedPicture {
  readonly seconds: number;
  readonly number: number;
}

Log.setLevel(AV_LOG_QUIET);

/** FFmpeg looks for keyframes by when they are decoded. Where pictures are reordered, its programs seek this much earlier (fftools/ffmpeg_demux.c). */
const REORDERING_SECONDS = 3 / 23;

/** A URL opened with FFmpeg's libraries. */
export class AvFile implements AsyncDisposable {
  readonly #format = new FormatContext();
  #video: Stream | null = null;
  /** Read by a seek, and not decoded yet. */
  #first: Packet | null = null;

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
    const widths: Record<number, number> = {};
    await this.#decode(({ width }) => {
      widths[width] = (widths[width] ?? 0) + 1;
      return true;
    });
    return widths;
  }

  /** The pictures from the current position on, which carry their numbers, as long as `goesOn` says so. */
  async numbers(goesOn: (picture: NumberedPicture) => boolean = () => true): Promise<NumberedPicture[]> {
    const pictures: NumberedPicture[] = [];
    const { num, den } = this.#picture.timeBase;
    await this.#decode(({ pts, data, linesize }) => {
      const [luma, lineBytes] = [data?.[0], linesize[0] ?? 0];
      const number = readNumber((x, y) => luma?.[y * lineBytes + x] ?? 0);
      pictures.push({ seconds: (Number(pts) * num) / den, number });
      return goesOn({ seconds: (Number(pts) * num) / den, number });
    });
    return pictures;
  }

  /** Number of the first picture at or after a time, found by a seek. */
  async numberAt(seconds: number): Promise<number> {
    const isReordered = this.#picture.codecpar.videoDelay > 0;
    await this.seek(isReordered ? Math.max(0, seconds - REORDERING_SECONDS) : seconds);
    const pictures = await this.numbers((picture) => picture.seconds < seconds);
    return pictures.at(-1)?.number ?? Number.NaN;
  }

  /** Time of the first picture after a seek, in seconds. */
  async seek(seconds: number): Promise<number> {
    const { index, timeBase } = this.#picture;
    const at = BigInt(Math.round((seconds * timeBase.den) / timeBase.num));
    expect(await this.#format.seekFrame(index, at, AVSEEK_FLAG_BACKWARD)).toBeGreaterThanOrEqual(0);
    const packet = await this.#next();
    if (!packet) return expect.fail(`nothing at ${seconds} s`);
    expect(packet.isKeyframe).toBe(true);
    this.#first?.free();
    this.#first = packet;
    return (Number(packet.dts) * timeBase.num) / timeBase.den;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#first?.free();
    await this.#format.closeInput();
  }

  get #picture(): Stream {
    return this.#video ?? expect.fail("there is no picture");
  }

  /** Decodes until `onFrame` returns false. */
  async #decode(onFrame: (frame: Frame) => boolean): Promise<void> {
    const { codecpar, timeBase } = this.#picture;
    const codec = Codec.findDecoder(codecpar.codecId);
    using decoder = new CodecContext();
    decoder.allocContext3(codec);
    decoder.parametersToContext(codecpar);
    decoder.pktTimebase = timeBase;
    expect(await decoder.open2(codec)).toBe(0);
    using frame = new Frame();
    frame.alloc();
    for (;;) {
      using packet = await this.#next();
      expect(await decoder.sendPacket(packet)).toBe(0);
      while ((await decoder.receiveFrame(frame)) === 0) if (!onFrame(frame)) return;
      if (!packet) return;
    }
  }

  /** Null at the end of the file. */
  async #next(): Promise<Packet | null> {
    const first = this.#first;
    this.#first = null;
    if (first) return first;
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
