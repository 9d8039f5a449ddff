/** Of H.264 and HEVC. */
const MAX_DEPTH = 16;
/** A longer step is a jump of the source's clock. */
const JUMP_TICKS = 5 * 90_000;
const STEP_TICKS = 3000;

/**
 * Decoding times of pictures that arrive in decoding order with presentation times alone, as in RTP. With pictures of which up to `depth` are
 * presented later than one that follows, each is decoded at the presentation time that is `depth` places earlier in order. A source that declares no
 * depth shows it: the rest of that group of pictures is left out once.
 */
export class DecodeTimes {
  #depth = 0;
  #stepTicks = STEP_TICKS;
  /** Times that were not given to a picture yet, in order. */
  #waiting: number[] | null = null;
  /** Presentation times since the last independent picture, the newest last. */
  #recent: number[] = [];
  #last = 0;

  /** `depth` as the parameter sets declare it; null where they do not. */
  configure(depth: number | null, frameRate: number | null): void {
    if (frameRate !== null && frameRate >= 1) this.#stepTicks = 90_000 / frameRate;
    if (depth === null || depth <= this.#depth) return;
    this.#depth = Math.min(depth, MAX_DEPTH);
    this.#waiting = null;
  }

  /** In the same ticks of 90 kHz. Null: this picture is left out. */
  next(presentation: number, isIndependent: boolean): number | null {
    const isJump = Math.abs(presentation - this.#last) > JUMP_TICKS;
    this.#last = presentation;
    if (isIndependent || isJump) this.#recent = [];
    const later = this.#recent.filter((time) => time > presentation).length;
    this.#recent.push(presentation);
    if (this.#recent.length > MAX_DEPTH) this.#recent.shift();
    if (later > this.#depth) {
      this.#depth = later;
      this.#waiting = null;
    }
    if (this.#waiting === null || isJump) {
      if (!isIndependent && !isJump) return null;
      const depth = this.#depth;
      this.#waiting = Array.from(
        { length: depth },
        (_, at) => presentation - Math.round((depth - at) * this.#stepTicks),
      );
    }
    this.#waiting.push(presentation);
    this.#waiting.sort((left, right) => left - right);
    return this.#waiting.shift() ?? presentation;
  }
}
