interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

/** Limits the calls per receiver, both concurrent and waiting. A slow receiver delays no other receiver's calls. */
export class CallLanes {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  readonly #lanes = new Map<string, Lane>();

  constructor({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  /** Runs `call` in its turn, or `otherwise` at once if too many are waiting. */
  async run<Value>(receiver: string, call: () => Promise<Value>, otherwise: () => Promise<Value>): Promise<Value> {
    const lane = this.#lanes.get(receiver) ?? { running: 0, waiting: [] };
    this.#lanes.set(receiver, lane);
    if (lane.running < this.#atOnce) lane.running += 1;
    else if (lane.waiting.length < this.#maxWaiting) await this.#turn(lane);
    else return otherwise();
    try {
      return await call();
    } finally {
      this.#leave(receiver, lane);
    }
  }

  #turn({ waiting }: Lane): Promise<void> {
    return new Promise((resolve) => waiting.push(resolve));
  }

  /** The first in the queue takes the free slot. */
  #leave(receiver: string, lane: Lane): void {
    const next = lane.waiting.shift();
    if (next) return next();
    lane.running -= 1;
    if (lane.running === 0) this.#lanes.delete(receiver);
  }
}
