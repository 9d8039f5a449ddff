import { type Payload, TICKS_PER_SECOND } from "../packet.ts";
import type { AudioClock } from "../timeline/audio-clock.ts";

/** Interval at which the last picture is repeated. */
const PICTURE_TICKS = TICKS_PER_SECOND;
/** A source that returns sooner, or is taken over by another, gets no slate. */
const AWAY_TICKS = TICKS_PER_SECOND;
/**
 * Gap between the slate and the returning source, filled with silence: the source's first picture is decoded before it is shown, but must not be
 * decoded before the slate's last one.
 */
const MARGIN_TICKS = TICKS_PER_SECOND / 2;

type Silence = Pick<AudioClock, "fillTo">;

/**
 * What targets get while the source is away, so that they do not end the broadcast: the source's last keyframe once per second, and silence. The
 * slate takes no time on the session's timeline, but it does at the target.
 */
export class Slate {
  readonly #picture: (ticks: number, data: Uint8Array) => void;
  #keyframe: Payload | null = null;
  #silence: Silence | null = null;
  /** Null while the source is present. */
  #beginTicks: number | null = null;
  /** Monotonic time of the first tick since then. */
  #beganAtMs: number | null = null;
  #elapsedTicks = 0;
  #isShown = false;
  #nextPictureTicks = 0;

  /** Calls `picture` with each repetition of the last one. */
  constructor(picture: (ticks: number, data: Uint8Array) => void) {
    this.#picture = picture;
  }

  /** Keeps the newest keyframe. */
  keyframe(data: Payload): void {
    data.retain();
    this.#keyframe?.release();
    this.#keyframe = data;
  }

  /** The tracks have changed, and earlier pictures do not match them. */
  forget(): void {
    this.#keyframe?.release();
    this.#keyframe = null;
  }

  /** The source is away, and the target has everything up to `ticks`. `silence` is null for a target without audio. */
  begin(ticks: number, silence: Silence | null): void {
    this.#beginTicks = ticks;
    this.#beganAtMs = null;
    this.#silence = silence;
    this.#elapsedTicks = 0;
    this.#isShown = false;
    this.#nextPictureTicks = ticks;
  }

  /** Sends the pictures and silence that are due. */
  tick(nowMs: number): void {
    if (this.#beginTicks === null) return;
    this.#beganAtMs ??= nowMs;
    this.#elapsedTicks = Math.round(((nowMs - this.#beganAtMs) * TICKS_PER_SECOND) / 1000);
    if (this.#elapsedTicks < AWAY_TICKS) return;
    this.#isShown = true;
    const ticks = this.#beginTicks + this.#elapsedTicks;
    for (; this.#nextPictureTicks <= ticks; this.#nextPictureTicks += PICTURE_TICKS) {
      if (this.#keyframe) this.#picture(this.#nextPictureTicks, this.#keyframe.bytes);
    }
    this.#silence?.fillTo(ticks);
  }

  /** The source has returned. Returns the ticks by which everything that follows is delayed. */
  end(): number {
    const begin = this.#beginTicks;
    if (begin === null) return 0;
    this.#beginTicks = null;
    if (!this.#isShown) return 0;
    const ticks = this.#elapsedTicks + MARGIN_TICKS;
    this.#silence?.fillTo(begin + ticks);
    return ticks;
  }
}
