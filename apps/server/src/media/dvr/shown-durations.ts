/** How far the beginning of a segment may be from where the durations before it put it. A picture at 60 per second is longer. */
const MAX_ERROR_SECONDS = 0.01;
const MAX_RECENT = 8;

/**
 * Durations as a list shows them. Those of a camera differ by a millisecond or two, and each that is new costs a list 2 bytes; so one of those shown before
 * is shown again while the sum stays right (RFC 8216bis 4.4.4.1).
 */
export class ShownDurations {
  /** The newest first. */
  readonly #recent: number[] = [];
  /** How much longer the shown ones are in all. */
  #ahead = 0;

  shown(seconds: number): number {
    const exact = seconds - this.#ahead;
    const fits = (shown: number): boolean =>
      Math.abs(shown - exact) <= MAX_ERROR_SECONDS && Math.round(shown) <= Math.round(seconds);
    const isKnown = this.#recent.includes(seconds) && fits(seconds);
    const again = isKnown ? seconds : this.#recent.find(fits);
    const shown = again ?? this.#fresh(seconds, exact);
    this.#remember(shown);
    this.#ahead += shown - seconds;
    return shown;
  }

  /** As it is if the sum allows, so that those of a steady source stay exact. */
  #fresh(seconds: number, exact: number): number {
    const isFair = Math.abs(seconds - exact) <= MAX_ERROR_SECONDS;
    return isFair || Math.round(exact) > Math.round(seconds) || exact <= 0 ? seconds : exact;
  }

  #remember(shown: number): void {
    const at = this.#recent.indexOf(shown);
    if (at === 0) return;
    if (at > 0) this.#recent.splice(at, 1);
    this.#recent.unshift(shown);
    if (this.#recent.length > MAX_RECENT) this.#recent.pop();
  }
}
