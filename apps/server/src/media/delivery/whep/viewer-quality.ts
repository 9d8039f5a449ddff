/** A rendition that a viewer may get, and its rate. */
export interface QualityLevel {
  readonly name: string;
  readonly bitsPerSecond: number;
}

/** How a viewer got what was sent since its last report. */
export interface Reception {
  /** Of its video packets, from 0 to 1. */
  readonly fractionLost: number;
  /** The rate that the viewer thinks its network carries (REMB); null where it does not say. */
  readonly availableBps: number | null;
}

export interface QualityChoice {
  /** Of the level. */
  readonly name: string;
  /** The network does not carry the lowest level: of that, keyframes alone. */
  readonly isKeyframesOnly: boolean;
}

/** Of the packets of one report. Retransmission mends less than `bad`; behind `hopeless` there is no picture at all. */
const LOSS = { good: 0.05, bad: 0.1, hopeless: 0.2 };
/** Of a level's rate: a network that was estimated to carry the level, and now carries less than this, is full. */
const FULL = 0.9;
/** Of what the network carried: the rest is for sound, for packets that are sent again, and for keyframes. */
const SHARE = 0.9;
/** Two within so long. A browser reports once a second. */
const BAD_REPORTS = 2;
const BAD_WITHIN_MS = 4_000;
/** In a row. */
const GOOD_REPORTS = 5;
/** Until the next better level is tried; twice as long after each try that failed within `TRIED_MS`. */
const WAIT_MS = { first: 10_000, most: 80_000 };
const TRIED_MS = 15_000;

/** What a viewer gets of a session's levels: less at once when its network does not carry the present one, and more, a level at a time, when it has been well for a while. */
export class ViewerQuality {
  #choice: QualityChoice;
  #isFalling = false;
  #badAt: number[] = [];
  #goodReports = 0;
  /** The highest estimate since the level began. */
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

  /** The choice is lower than the one before. */
  get isFalling(): boolean {
    return this.#isFalling;
  }

  /** One more report came, at `now`. `levels` are those that there are, the best first; a level that is gone is replaced by the best. */
  judge(reception: Reception, levels: readonly [QualityLevel, ...QualityLevel[]], now: number): QualityChoice {
    const found = levels.findIndex(({ name }) => name === this.#choice.name);
    if (found < 0) {
      this.#isFalling = false;
      this.#choose(levels[0], false);
    }
    const at = Math.max(0, found);
    const level = levels[at] ?? levels[0];
    this.#count(reception, level, now);
    if (this.#badAt.length >= BAD_REPORTS) this.#lower(reception, level, levels.slice(at + 1), now);
    else if (this.#goodReports >= GOOD_REPORTS && now >= this.#tryAt) this.#raise(level, levels[at - 1], now);
    return this.#choice;
  }

  #count(reception: Reception, level: QualityLevel, now: number): void {
    const { fractionLost } = reception;
    const isFull = this.#isFull(reception, level);
    this.#badAt = this.#badAt.filter((at) => now - at < BAD_WITHIN_MS);
    if (isFull || fractionLost >= LOSS.bad) this.#badAt.push(now);
    const good = this.#choice.isKeyframesOnly ? LOSS.bad : LOSS.good;
    this.#goodReports = !isFull && fractionLost <= good ? this.#goodReports + 1 : 0;
  }

  /** An estimate begins low and grows by what is sent alone: it says something only where it falls. Of keyframes alone it says nothing. */
  #isFull({ availableBps }: Reception, { bitsPerSecond }: QualityLevel): boolean {
    if (availableBps === null || this.#choice.isKeyframesOnly) return false;
    this.#mostBps = Math.max(this.#mostBps, availableBps);
    return this.#mostBps >= bitsPerSecond && availableBps < FULL * bitsPerSecond;
  }

  #lower(reception: Reception, level: QualityLevel, lower: readonly QualityLevel[], now: number): void {
    const { fractionLost, availableBps } = reception;
    const carried =
      SHARE * Math.min(level.bitsPerSecond * (1 - fractionLost), availableBps ?? Number.POSITIVE_INFINITY);
    const next = lower.find(({ bitsPerSecond }) => bitsPerSecond <= carried) ?? lower.at(-1);
    this.#isFalling = true;
    if (next) this.#choose(next, false);
    else if (fractionLost >= LOSS.hopeless) this.#choose(level, true);
    else return;
    const hasFailed = now - this.#triedAt < TRIED_MS;
    this.#waitMs = hasFailed ? Math.min(WAIT_MS.most, 2 * this.#waitMs) : WAIT_MS.first;
    this.#tryAt = now + this.#waitMs;
  }

  #raise(level: QualityLevel, better: QualityLevel | undefined, now: number): void {
    this.#isFalling = false;
    if (this.#choice.isKeyframesOnly) this.#choose(level, false);
    else if (better) this.#choose(better, false);
    else return;
    this.#triedAt = now;
    this.#tryAt = now + this.#waitMs;
  }

  #choose({ name }: QualityLevel, isKeyframesOnly: boolean): void {
    if (name === this.#choice.name && isKeyframesOnly === this.#choice.isKeyframesOnly) return;
    this.#choice = { name, isKeyframesOnly };
    this.#badAt = [];
    this.#goodReports = 0;
    this.#mostBps = 0;
  }
}
