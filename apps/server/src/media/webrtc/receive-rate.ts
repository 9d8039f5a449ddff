/** A browser starts at 300 kbit/s and, in its first seconds, follows a higher limit immediately. */
const START_BPS = 4_000_000;
const MAX_BPS = 8_000_000;
const MIN_BPS = 150_000;
const LOSS = { little: 0.02, much: 0.1 };

/** The bitrate limit for a publisher: it decreases at high packet loss and increases slightly at each report with hardly any. */
export class ReceiveRate {
  #bps = START_BPS;

  /** `fractionLost` since the last call. */
  next(fractionLost: number): number {
    if (fractionLost > LOSS.much) this.#bps *= 1 - fractionLost / 2;
    else if (fractionLost < LOSS.little) this.#bps *= 1.05;
    this.#bps = Math.min(MAX_BPS, Math.max(MIN_BPS, this.#bps));
    return Math.round(this.#bps);
  }
}
