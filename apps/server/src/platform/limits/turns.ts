export interface TurnsSettings {
  /** A function is called again whenever work starts or ends, because the limit may change. */
  readonly atATime: number | (() => number);
  /** Beyond this, work is rejected. Left out where the callers are few and each waits for one turn. */
  readonly maxWaiting?: number;
}

export class TooManyWaiting extends Error {}

/** Limits how much work runs at once; the rest waits in order of arrival. */
export class Turns {
  readonly #settings: TurnsSettings;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(settings: TurnsSettings) {
    this.#settings = settings;
  }

  get atATime(): number {
    const { atATime } = this.#settings;
    return typeof atATime === "number" ? atATime : atATime();
  }

  /** Whether work would start immediately. */
  get isFree(): boolean {
    return this.#running < this.atATime && this.#waiting.length === 0;
  }

  /** Whether nothing runs, so that nothing waits either. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Runs `work` when fewer than `atATime` run. Aborted work also gets its turn and must check its signal. Rejects with `TooManyWaiting`. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.isFree) this.#running++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#running--;
      this.#startWaiting();
    }
  }

  #turn(): Promise<void> {
    const { length } = this.#waiting;
    if (length >= (this.#settings.maxWaiting ?? Number.POSITIVE_INFINITY))
      throw new TooManyWaiting(`${length} others wait already`);
    return new Promise((begin) => this.#waiting.push(begin));
  }

  #startWaiting(): void {
    while (this.#running < this.atATime) {
      const begin = this.#waiting.shift();
      if (!begin) return;
      this.#running++;
      begin();
    }
  }
}
