/** A browser begins with 300 kbit/s; in its first seconds it goes at once to what it is told. */
const START_BPS = 4_000_000;
const MAX_BPS = 8_000_000;
const MIN_BPS = 150_000;
const LOSS = { little: 0.02, much: 0.1 };

/** How much a publisher is asked to send: less while much of it is lost, a little more each time that hardly anything is. */
export class ReceiveRate {
  #bps = START_BPS;

  /** `fractionLost` of the packets since the last time. */
  next(fractionLost: number): number {
    if (fractionLost > LOSS.much) this.#bps *= 1 - fractionLost / 2;
    else if (fractionLost < LOSS.little) this.#bps *= 1.05;
    this.#bps = Math.min(MAX_BPS, Math.max(MIN_BPS, this.#bps));
    return Math.round(this.#bps);
  }
}
