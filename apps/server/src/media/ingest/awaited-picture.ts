import { TICKS_PER_SECOND } from "../packet.ts";

/** Of sound alone, from a source that has announced video. Longer than the keyframe intervals of most encoders. */
const PICTURE_WITHIN_TICKS = 10 * TICKS_PER_SECOND;

/**
 * A source that is joined in the middle sends nothing but sound until the next keyframe. That sound is left out where the source has announced video: a
 * session that began with sound alone would have no picture for those who come first.
 */
export class AwaitedPicture {
  #state: "unknown" | "awaited" | "settled" = "unknown";
  /** Time of the first sound that was left out; null before. */
  #soundSince: number | null = null;

  /** The source says that it has video. */
  announced(): void {
    if (this.#state === "unknown") this.#state = "awaited";
  }

  /** A picture that can be shown has come, or nothing is to be waited for. */
  settled(): void {
    this.#state = "settled";
  }

  /** True if the sound of this time, in ticks of the source's clock, comes too early to be used. */
  leavesOut(ticks: number): boolean {
    if (this.#state !== "awaited") return false;
    this.#soundSince ??= ticks;
    // A clock that jumps, or begins anew, ends the wait too.
    if (Math.abs(ticks - this.#soundSince) >= PICTURE_WITHIN_TICKS) this.settled();
    return this.#state === "awaited";
  }
}
