import { type Payload, TICKS_PER_SECOND } from "../packet.ts";
import type { SilentAudio } from "./silent-audio.ts";

/** The last picture is sent again this often. */
const PICTURE_TICKS = TICKS_PER_SECOND;
/** A source that is back sooner, or from which another one takes over, was never away. */
const AWAY_TICKS = TICKS_PER_SECOND;
/**
 * The source goes on so much behind the slate: its first picture is decoded before it is shown, and must not be decoded before the slate's
 * last one. Silence lies between.
 */
const MARGIN_TICKS = TICKS_PER_SECOND / 2;

export interface SlateOutput {
  picture(ticks: number, data: Uint8Array): void;
  silence(ticks: number): void;
}

/**
 * What a target gets while the source is away, so that it does not end the broadcast: the source's last keyframe once a second, and silence.
 * That takes no time on the session's timeline, but it does at the target.
 */
export class Slate {
  readonly #output: SlateOutput;
  #keyframe: Payload | null = null;
  #silence: SilentAudio | null = null;
  /** Null while the source is there. */
  #beginTicks: number | null = null;
  /** When time was first told since then. */
  #beganAtMs: number | null = null;
  #elapsedTicks = 0;
  #isShown = false;
  #nextPictureTicks = 0;

  constructor(output: SlateOutput) {
    this.#output = output;
  }

  /** The newest picture that can be shown by itself. */
  keyframe(data: Payload): void {
    data.retain();
    this.#keyframe?.release();
    this.#keyframe = data;
  }

  /** The tracks are others: earlier pictures do not fit them. */
  forget(): void {
    this.#keyframe?.release();
    this.#keyframe = null;
  }

  /** The source is away, and the target has everything up to `ticks`. `silence` is null for a target without sound. */
  begin(ticks: number, silence: SilentAudio | null): void {
    this.#beginTicks = ticks;
    this.#beganAtMs = null;
    this.#silence = silence;
    this.#elapsedTicks = 0;
    this.#isShown = false;
    this.#nextPictureTicks = ticks;
  }

  /** Time has passed. */
  tick(nowMs: number): void {
    if (this.#beginTicks === null) return;
    this.#beganAtMs ??= nowMs;
    this.#elapsedTicks = Math.round(((nowMs - this.#beganAtMs) * TICKS_PER_SECOND) / 1000);
    if (this.#elapsedTicks < AWAY_TICKS) return;
    this.#isShown = true;
    const ticks = this.#beginTicks + this.#elapsedTicks;
    for (; this.#nextPictureTicks <= ticks; this.#nextPictureTicks += PICTURE_TICKS) {
      if (this.#keyframe) this.#output.picture(this.#nextPictureTicks, this.#keyframe.bytes);
    }
    this.#silence?.until(ticks, this.#output.silence);
  }

  /** The source is back. Returns by how much later all that follows has to be sent. */
  end(): number {
    const begin = this.#beginTicks;
    if (begin === null) return 0;
    this.#beginTicks = null;
    if (!this.#isShown) return 0;
    const ticks = this.#elapsedTicks + MARGIN_TICKS;
    this.#silence?.until(begin + ticks - this.#silence.frameTicks, this.#output.silence);
    return ticks;
  }
}
