import { Frame } from "node-av/lib";
import { FatalTranscodeError } from "./fatal-transcode-error.ts";
import { FrameRateGate } from "./frame-rate-gate.ts";
import { KeyframeInterval } from "./keyframe-interval.ts";
import { PictureScaler } from "./picture-scaler.ts";
import { RungEncoder } from "./rung-encoder.ts";
import type { FrameSegment } from "./segment-cuts.ts";
import type { ReadyRung, Send, TranscodeRung, TranscodeStart } from "./transcode-protocol.ts";

const MIN_SIDE = 16;
const MAX_SIDE = 8192;

/** One rung of a live ladder: scales, keeps to its frame rate, and encodes one picture while the caller goes on. */
export class LiveRung {
  readonly #rung: TranscodeRung;
  readonly #encoder: RungEncoder;
  readonly #scaler: PictureScaler;
  readonly #gate: FrameRateGate | null;
  readonly #keyframes: KeyframeInterval;
  readonly #send: Send;
  readonly #picture = new Frame();
  /** The pictures that were given to the encoder and have not come out. */
  readonly #inside: { readonly msn: number; readonly isFirstOfSegment: boolean }[] = [];
  #underWay: Promise<void> = Promise.resolve();
  #msn = 0;
  #needsIdr = true;

  private constructor(rung: TranscodeRung, encoder: RungEncoder, send: Send) {
    this.#rung = rung;
    this.#encoder = encoder;
    this.#send = send;
    this.#scaler = new PictureScaler(rung.width, rung.height, encoder.pixelFormat);
    this.#gate = rung.frameRate && new FrameRateGate(rung.frameRate);
    this.#keyframes = new KeyframeInterval(rung.keyframeSeconds);
    this.#picture.alloc();
  }

  /** Throws `FatalTranscodeError` for a size that cannot be, and when the encoder does not open. */
  static async open(rung: TranscodeRung, start: TranscodeStart, send: Send): Promise<LiveRung> {
    const { width, height } = rung;
    if (
      width % 2 !== 0 ||
      height % 2 !== 0 ||
      Math.min(width, height) < MIN_SIDE ||
      Math.max(width, height) > MAX_SIDE
    ) {
      const rule = `sides are even, and ${MIN_SIDE} to ${MAX_SIDE} pixels long`;
      throw new FatalTranscodeError("unsupported-size", `No rendition of ${width}x${height} can be made: ${rule}`);
    }
    try {
      return new LiveRung(rung, await RungEncoder.open(rung, start), send);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new FatalTranscodeError("encode", `No rendition of ${width}x${height} can be made: ${reason}`, error);
    }
  }

  get ready(): ReadyRung {
    return this.#encoder.ready;
  }

  get index(): number {
    return this.#rung.index;
  }

  get pixels(): number {
    return this.#rung.width * this.#rung.height;
  }

  /** The next picture is an IDR, and nothing is repeated before it. */
  restart(): void {
    this.#needsIdr = true;
  }

  /** Resolves when all that was taken is sent. Rejects with `FatalTranscodeError`. */
  idle(): Promise<void> {
    return this.#underWay;
  }

  /**
   * Begins to encode `larger`, or `original` where this rung is larger than that. Returns the scaled picture, for the next smaller rung,
   * or null when the frame rate leaves the frame out.
   */
  async take(larger: Frame, original: Frame, pts: number, segment: FrameSegment): Promise<Frame | null> {
    await this.#underWay;
    const isRestart = this.#needsIdr || segment.isNew;
    if (this.#gate) {
      const repeats = this.#needsIdr ? [] : this.#gate.repeatsBefore(pts, segment.isNew ? segment.ticks : pts);
      for (const at of repeats) await this.#encode(at, this.#keyframes.isDue(at, false), false);
      if (!this.#gate.passes(pts, isRestart)) return null;
    }
    const isIdr = this.#keyframes.isDue(pts, isRestart);
    const isLargeEnough = larger.width >= this.#rung.width && larger.height >= this.#rung.height;
    this.#scaler.scale(isLargeEnough ? larger : original, this.#picture);
    this.#needsIdr = false;
    this.#msn = segment.msn;
    this.#underWay = this.#encode(pts, isIdr, segment.isNew);
    this.#underWay.catch(() => {}); // whoever waits for it next has the error
    return this.#picture;
  }

  /** When nothing is under way. */
  free(): void {
    this.#encoder.free();
    this.#scaler.free();
    this.#picture.free();
  }

  async #encode(pts: number, isIdr: boolean, isFirstOfSegment: boolean): Promise<void> {
    this.#inside.push({ msn: this.#msn, isFirstOfSegment });
    const encoded = await this.#encoder.encode(this.#picture, pts, isIdr).catch((error: Error) => {
      const { width, height } = this.#rung;
      throw new FatalTranscodeError("encode", `The rendition of ${width}x${height} failed: ${error.message}`, error);
    });
    const place = encoded && this.#inside.shift();
    if (!place) return;
    this.#send({ type: "packet", rung: this.#rung.index, ...place, ...encoded, dts: encoded.pts });
  }
}
