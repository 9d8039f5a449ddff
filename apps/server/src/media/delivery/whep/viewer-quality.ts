/** What a viewer may get, with its bitrate: a rung of the ladder, or the source, which is the best. */
export interface QualityRung {
  readonly name: string;
  readonly bitsPerSecond: number;
}

/** A viewer's reception since its last report. */
export interface Reception {
  /** Fraction of video packets lost, 0 to 1. */
  readonly fractionLost: number;
  /** The viewer's bitrate estimate (REMB); null without one. */
  readonly availableBps: number | null;
}

export interface QualityChoice {
  /** The rung's name. */
  readonly name: string;
  /** The network cannot carry the lowest rung: send only its keyframes. */
  readonly isKeyframesOnly: boolean;
}

/** Packet loss per report. Retransmission compensates for less than `bad`; above `hopeless` no video is possible. */
const LOSS = { good: 0.05, bad: 0.1, hopeless: 0.2 };
/** Share of a rung's bitrate: a network once estimated to carry the rung, and now less than this, is congested. */
const FULL = 0.9;
/** Share of the estimated bitrate used for video; the rest is for audio, retransmissions and keyframes. */
const SHARE = 0.9;
/** Two bad reports within this time. A browser reports once per second. */
const BAD_REPORTS = 2;
const BAD_WITHIN_MS = 4_000;
/** Consecutive reports. */
const GOOD_REPORTS = 5;
/** Time until the next better rung is tried; doubled after each attempt that failed within `TRIED_MS`. */
const WAIT_MS = { first: 10_000, most: 80_000 };
const TRIED_MS = 15_000;

/**
 * Selects a viewer's rung: lower immediately when the network cannot carry the current one, higher one rung at a time after a period of good
 * reception.
 */
export class ViewerQuality {
  #choice: QualityChoice;
  #isFalling = false;
  #badAt: number[] = [];
  #goodReports = 0;
  /** The highest estimate since the rung was selected. */
  #mostBps = 0;
  #waitMs = WAIT_MS.first;
  #tryAt = 0;
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor(name: string) {
    this.#choice = { name, isKeyframesOnly: false };
  }

  get choice(): QualityChoice {
    return this.#choice;
  }

  /** True if the last choice was lower than the one before. */
  get isFalling(): boolean {
    return this.#isFalling;
  }

  /** Adds a report. `rungs` are the available ones, best first; a rung that no longer exists is replaced by the best. */
  judge(reception: Reception, rungs: readonly [QualityRung, ...QualityRung[]], now: number): QualityChoice {
    const found = rungs.findIndex(({ name }) => name === this.#choice.name);
    if (found < 0) {
      this.#isFalling = false;
      this.#choose(rungs[0], false);
    }
    const at = Math.max(0, found);
    const rung = rungs[at] ?? rungs[0];
    this.#count(reception, rung, now);
    if (this.#badAt.length >= BAD_REPORTS) this.#lower(reception, rung, rungs.slice(at + 1), now);
    else if (this.#goodReports >= GOOD_REPORTS && now >= this.#tryAt) this.#raise(rung, rungs[at - 1], now);
    return this.#choice;
  }

  #count(reception: Reception, rung: QualityRung, now: number): void {
    const { fractionLost } = reception;
    const isFull = this.#isFull(reception, rung);
    this.#badAt = this.#badAt.filter((at) => now - at < BAD_WITHIN_MS);
    if (isFull || fractionLost >= LOSS.bad) this.#badAt.push(now);
    const good = this.#choice.isKeyframesOnly ? LOSS.bad : LOSS.good;
    this.#goodReports = !isFull && fractionLost <= good ? this.#goodReports + 1 : 0;
  }

  /** An estimate starts low and grows only with the bitrate sent, so it is meaningful only when it falls; with keyframes only, it is meaningless. */
  #isFull({ availableBps }: Reception, { bitsPerSecond }: QualityRung): boolean {
    if (availableBps === null || this.#choice.isKeyframesOnly) return false;
    this.#mostBps = Math.max(this.#mostBps, availableBps);
    return this.#mostBps >= bitsPerSecond && availableBps < FULL * bitsPerSecond;
  }

  #lower(reception: Reception, rung: QualityRung, lower: readonly QualityRung[], now: number): void {
    const { fractionLost, availableBps } = reception;
    const carried = SHARE * Math.min(rung.bitsPerSecond * (1 - fractionLost), availableBps ?? Number.POSITIVE_INFINITY);
    const next = lower.find(({ bitsPerSecond }) => bitsPerSecond <= carried) ?? lower.at(-1);
    this.#isFalling = true;
    if (next) this.#choose(next, false);
    else if (fractionLost >= LOSS.hopeless) this.#choose(rung, true);
    else return;
    const hasFailed = now - this.#triedAt < TRIED_MS;
    this.#waitMs = hasFailed ? Math.min(WAIT_MS.most, 2 * this.#waitMs) : WAIT_MS.first;
    this.#tryAt = now + this.#waitMs;
  }

  #raise(rung: QualityRung, better: QualityRung | undefined, now: number): void {
    this.#isFalling = false;
    if (this.#choice.isKeyframesOnly) this.#choose(rung, false);
    else if (better) this.#choose(better, false);
    else return;
    this.#triedAt = now;
    this.#tryAt = now + this.#waitMs;
  }

  #choose({ name }: QualityRung, isKeyframesOnly: boolean): void {
    if (name === this.#choice.name && isKeyframesOnly === this.#choice.isKeyframesOnly) return;
    this.#choice = { name, isKeyframesOnly };
    this.#badAt = [];
    this.#goodReports = 0;
    this.#mostBps = 0;
  }
}
