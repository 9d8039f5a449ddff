import type { Frame } from "node-av/lib";
import type { Clock } from "../../platform/clock.ts";
import { TICKS_PER_SECOND } from "../packet.ts";
import { FatalTranscodeError, unexpected } from "./fatal-transcode-error.ts";
import { DecodeError, LiveDecoder } from "./live-decoder.ts";
import { LiveRung } from "./live-rung.ts";
import { refusePixelFormat } from "./picture-scaler.ts";
import { SegmentCuts } from "./segment-cuts.ts";
import type { Engine, Send, ToChild, TranscodeRung, TranscodeStart } from "./transcode-protocol.ts";

const ERROR_INTERVAL_MS = 1000;
/** A source that has no IDR pictures after its first is decoded again after this time, wherever it is. */
const MAX_WAIT_FOR_IDR_TICKS = 4 * TICKS_PER_SECOND;
/** So many broken packets before any picture, and there will be none. */
const HOPELESS_PACKETS = 60;

type PacketMessage = Extract<ToChild, { type: "packet" }>;

/**
 * One source and its rungs. A frame is decoded once; each rung is scaled from the next larger one, and encodes while the next frame is
 * decoded. After the start, after damage and after a flush it waits for an independent packet.
 */
export class TranscodeEngine {
  readonly #decoder: LiveDecoder;
  readonly #start: TranscodeStart;
  /** From the largest to the smallest. */
  #rungs: readonly LiveRung[];
  /** The rungs from the next segment on; null while they stay the same. */
  #nextRungs: readonly LiveRung[] | null = null;
  readonly #send: Send;
  readonly #clock: Clock;
  readonly #cuts = new SegmentCuts();
  #skipUntil = -Infinity;
  /** DTS of the first packet that was left out for want of an IDR; undefined while decoding. */
  #waitsForIdrSince: number | null | undefined = null;
  #decodedPts = -Infinity;
  #brokenPackets = 0;
  #errorAt = -Infinity;

  private constructor(
    start: TranscodeStart,
    decoder: LiveDecoder,
    rungs: readonly LiveRung[],
    send: Send,
    clock: Clock,
  ) {
    this.#start = start;
    this.#decoder = decoder;
    this.#rungs = rungs;
    this.#send = send;
    this.#clock = clock;
  }

  /** Opens decoder and encoders and sends `ready`. Throws `FatalTranscodeError`. */
  static async open(start: TranscodeStart, send: Send, clock: Clock): Promise<Engine> {
    const decoder = await LiveDecoder.open(start.video).catch((error: Error) => {
      throw new FatalTranscodeError("decode", `The source's video cannot be decoded: ${error.message}`, error);
    });
    const rungs: LiveRung[] = [];
    for (const rung of start.rungs) rungs.push(await LiveRung.open(rung, start, send));
    rungs.sort((a, b) => b.pixels - a.pixels);
    send({ type: "ready", rungs: rungs.map(({ ready }) => ready) });
    const engine = new TranscodeEngine(start, decoder, rungs, send, clock);
    return (message) => engine.#take(message);
  }

  async #take(message: ToChild): Promise<void> {
    switch (message.type) {
      case "cut":
        return this.#cuts.add(message.msn, message.ticks);
      case "skip-until":
        this.#skipUntil = message.ticks;
        return;
      case "rungs":
        return this.#changeRungs(message.rungs);
      case "packet":
        return this.#packet(message);
      case "flush":
        await this.#restart();
        await Promise.all(this.#rungs.map((rung) => rung.idle()));
        for (const rung of this.#rungs) rung.restart();
        return this.#send({ type: "flushed", id: message.id });
      default:
        throw unexpected(message);
    }
  }

  /** Opens the new ones now, so that they are there when their segment begins. */
  async #changeRungs(wanted: readonly TranscodeRung[]): Promise<void> {
    const rungs: LiveRung[] = [];
    const opened: LiveRung[] = [];
    const known = new Map([...this.#rungs, ...(this.#nextRungs ?? [])].map((rung) => [rung.index, rung]));
    for (const rung of wanted) {
      const made = known.get(rung.index) ?? (await LiveRung.open(rung, this.#start, this.#send));
      if (!known.has(rung.index)) opened.push(made);
      rungs.push(made);
    }
    for (const rung of known.values()) {
      // Opened for a segment that never came.
      if (!rungs.includes(rung) && !this.#rungs.includes(rung)) rung.free();
    }
    this.#nextRungs = rungs.sort((a, b) => b.pixels - a.pixels);
    if (opened.length > 0) this.#send({ type: "ready", rungs: opened.map(({ ready }) => ready) });
  }

  async #useNextRungs(next: readonly LiveRung[]): Promise<void> {
    const dropped = this.#rungs.filter((rung) => !next.includes(rung));
    this.#rungs = next;
    this.#nextRungs = null;
    for (const rung of dropped) {
      await rung.idle();
      rung.free();
    }
    this.#send({ type: "dropped", rungs: dropped.map(({ index }) => index) });
  }

  async #packet({ isIndependent, dts, pts, data }: PacketMessage): Promise<void> {
    if (!isIndependent && this.#waitsForIdrSince !== undefined) {
      this.#waitsForIdrSince ??= dts;
      if (dts - this.#waitsForIdrSince < MAX_WAIT_FOR_IDR_TICKS) return;
    }
    this.#waitsForIdrSince = undefined;
    try {
      await this.#decoder.decode(data, dts, pts, isIndependent, this.#frame);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      await this.#decodeFailed(error, pts);
    }
  }

  async #decodeFailed(error: DecodeError, pts: number): Promise<void> {
    this.#brokenPackets++;
    if (this.#decodedPts === -Infinity && this.#brokenPackets >= HOPELESS_PACKETS) {
      throw new FatalTranscodeError("decode", `None of the source's pictures can be decoded: ${error.message}`, error);
    }
    await this.#restart();
    if (this.#clock.monotonic() - this.#errorAt < ERROR_INTERVAL_MS) return;
    this.#errorAt = this.#clock.monotonic();
    const seconds = (pts / TICKS_PER_SECOND).toFixed(3);
    const message = `The source's picture at ${seconds} s is damaged (${error.message}); renditions go on at the next keyframe`;
    this.#send({ type: "error", code: "decode", message, isFatal: false });
  }

  async #restart(): Promise<void> {
    await this.#decoder.restart(this.#frame).catch((error: unknown) => {
      if (!(error instanceof DecodeError)) throw error;
    });
    this.#waitsForIdrSince = null;
  }

  readonly #frame = async (frame: Frame, pts: number): Promise<void> => {
    const refusal = refusePixelFormat(frame.format);
    if (refusal) throw new FatalTranscodeError("unsupported-pixel-format", refusal);
    // Damaged sources repeat times, and encoders take none twice.
    if (pts <= this.#decodedPts) return;
    this.#decodedPts = pts;
    const segment = this.#cuts.at(pts);
    if (segment?.isNew && this.#nextRungs) await this.#useNextRungs(this.#nextRungs);
    if (segment && pts >= this.#skipUntil) {
      let picture = frame;
      for (const rung of this.#rungs) picture = (await rung.take(picture, frame, pts, segment)) ?? picture;
    }
  };
}
