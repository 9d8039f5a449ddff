import type { Clock } from "../../platform/clock.ts";
import { ticksToMs } from "./ticks.ts";

const SLEW_MS = 5;
/** A network delivers a keyframe early or late by this much. Following that would make steps that differ from the segments' durations. */
const TOLERANCE_MS = 100;

/**
 * Wall-clock time of positions in one stretch: anchored at the arrival of its first packet, then media time. A source clock that leads away from the
 * server's monotonic clock by more than 100 ms is followed by at most 5 ms per segment. Wall clock steps do not affect it.
 */
export class ProgramDateTime {
  readonly #clock: Clock;
  readonly #anchorTicks: number;
  readonly #anchorWall: number;
  readonly #anchorMonotonic: number;
  #slew = 0;

  /** `ageMs`: time since the arrival of the stretch's first packet. */
  constructor(clock: Clock, anchorTicks: number, ageMs: number) {
    this.#clock = clock;
    this.#anchorTicks = anchorTicks;
    this.#anchorWall = clock.now() - ageMs;
    this.#anchorMonotonic = clock.monotonic() - ageMs;
  }

  /** Time of a cut that arrives now, in whole milliseconds. Call once per segment. */
  at(ticks: number): number {
    const media = ticksToMs(ticks - this.#anchorTicks, 90_000);
    const elapsed = this.#clock.monotonic() - this.#anchorMonotonic;
    const off = elapsed - media - this.#slew;
    const excess = Math.sign(off) * Math.max(0, Math.abs(off) - TOLERANCE_MS);
    this.#slew += Math.max(-SLEW_MS, Math.min(SLEW_MS, excess));
    return Math.round(this.#anchorWall + media + this.#slew);
  }
}
